import { conversationOf, type RunContext, type SessionMessage } from '@perdure/core'
import type { ModelMessage } from 'ai'
import type { FindRun } from '../run.ts'
import type { Sdk } from '../sdk.ts'
import { failureTextOf, plainFailure } from '../tools/failure-text.ts'
import type { Tools } from '../tools/tool.ts'
import type { ConversationOptions } from './conversation-options.ts'
import { linkerOf } from './linked-files.ts'
import { toModelMessages } from './model-messages.ts'
import { readerOf } from './read-file.ts'
import { toUiMessages } from './ui-messages.ts'

/** How many messages one conversation has at most. */
const MAX_MESSAGES = 200
const MAX_TURNS = 100

/** `ai.messages` and `ai.uiMessages`. */
export const createConversation = (sdk: Sdk, find: FindRun) => ({
  async messages({ tools = {}, maxTurns, convertDataPart }: ConversationOptions = {}): Promise<ModelMessage[]> {
    const { ctx } = find()
    await ctx.session?.takeMessages()
    return toModelMessages(await branchOf(ctx, maxTurns, true), {
      ...{
        tools: tools as Tools,
        convertDataPart,
        readFile: readerOf(ctx),
        linkTo: linkerOf(ctx),
        failureText: failureTextOf(sdk),
      },
    })
  },
  uiMessages: async ({ maxTurns }: Pick<ConversationOptions, 'maxTurns'> = {}) =>
    toUiMessages(await branchOf(find().ctx, maxTurns, false)),
})

/** A run without a session, and a child run, see their own input alone. */
async function branchOf(
  ctx: RunContext,
  maxTurns: number = MAX_TURNS,
  compacted: boolean,
): Promise<readonly SessionMessage[]> {
  if (!Number.isInteger(maxTurns) || maxTurns < 1 || maxTurns > MAX_TURNS) {
    throw new TypeError(`maxTurns: must be a whole number from 1 to ${MAX_TURNS}`)
  }
  const messages = (await ctx.session?.messages({ limit: MAX_MESSAGES, compacted })) ?? []
  const own = conversationOf(ctx)
  if (own.length > 0 && !messages.some(({ runId }) => runId === ctx.runId)) return own
  const turns = new Set(messages.toReversed().map(({ runId }) => runId))
  const shown = new Set([...turns].slice(0, maxTurns))
  return messages.filter(({ role, runId }) => role === 'summary' || shown.has(runId))
}

/** The messages that started the run. */
export const ownMessages = (ctx: RunContext): Promise<ModelMessage[]> =>
  toModelMessages(conversationOf(ctx), {
    ...{
      tools: {},
      convertDataPart: undefined,
      readFile: readerOf(ctx),
      linkTo: linkerOf(ctx),
      failureText: plainFailure,
    },
  })
