import type { RunContext } from '@perdure/core'
import type { ModelMessage } from 'ai'
import type { FindRun } from '../run.ts'
import { isObject } from '../sdk.ts'
import type { ChatHistory, Compactor } from './chat-types.ts'
import { readerOf, storedUrlOf } from './read-file.ts'
import { restoredPrompt, storedPrompt } from './stored-prompt.ts'
import { tokensOf } from './token-estimate.ts'

/** Shortens the prompts of one call of an agent. */
export interface Compaction {
  /**
   * The shorter prompt, recorded for this turn and later ones; `undefined` while the prompt is short enough.
   *
   * @param usedTokens what the last model call has reported, if there was one
   */
  compacted(messages: readonly ModelMessage[], usedTokens?: number): Promise<readonly ModelMessage[] | undefined>
}

/** A prompt that cannot be made shorter is compacted again only when it has grown by this factor. */
const GROWTH = 1.25

/** @throws TypeError for a history that cannot be meant */
export function checkHistory({ maxTokens, compact }: ChatHistory = {}): void {
  if (maxTokens === undefined && compact !== undefined) {
    throw new TypeError(
      'history.compact needs history.maxTokens: the estimated size of a prompt above which it is called',
    )
  }
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0)) {
    throw new TypeError('history.maxTokens: must be a whole number of at least 1')
  }
}

/** @param byDefault makes the compactor of a history that names none */
export function compactionOf(
  find: FindRun,
  { maxTokens, compact }: ChatHistory = {},
  byDefault: () => Compactor,
): Compaction | undefined {
  if (maxTokens === undefined) return undefined
  const shorten = compact ?? byDefault()
  let limit = maxTokens
  let isFresh = false

  return {
    async compacted(messages, usedTokens) {
      // Instructions and tools, which no compaction makes shorter, are part of what a call reports.
      if (isFresh && usedTokens !== undefined) limit = Math.max(limit, GROWTH * usedTokens)
      isFresh = false
      if (Math.max(tokensOf(messages), usedTokens ?? 0) <= limit) return undefined
      const { ctx } = find()
      const stored = await recorded(ctx, async () => {
        const shorter = await shorten([...messages], { maxTokens })
        checkPrompt(shorter, messages)
        return storedPrompt(shorter, storedUrlOf)
      })
      const prompt = await restoredPrompt(stored, readerOf(ctx))
      limit = Math.max(maxTokens, GROWTH * tokensOf(prompt))
      isFresh = true
      return prompt
    },
  }
}

const recorded = (ctx: RunContext, make: () => Promise<unknown>): Promise<unknown> =>
  ctx.session === undefined ? ctx.step('session.compact', make) : ctx.session.compact(make)

interface ToolPart {
  readonly type: string
  readonly toolCallId: string
}

/** Refuses what a provider would refuse in every later turn too. */
function checkPrompt(shorter: unknown, given: readonly ModelMessage[]): asserts shorter is ModelMessage[] {
  if (!Array.isArray(shorter) || !shorter.every((one) => isObject(one) && 'role' in one && 'content' in one)) {
    throw new TypeError('history.compact: must return an array of messages of the AI SDK')
  }
  const { role } = given.at(-1) ?? {}
  if ((shorter as ModelMessage[]).at(-1)?.role !== role) {
    throw new TypeError(`history.compact: must keep the last message, which has the role ${role}`)
  }
  const parts = (type: string) =>
    (shorter as ModelMessage[])
      .flatMap(({ content }) => (Array.isArray(content) ? (content as unknown as ToolPart[]) : []))
      .flatMap((part) => (part.type === type ? [part.toolCallId] : []))
  const calls = new Set(parts('tool-call'))
  const results = new Set(parts('tool-result'))
  const alone = [...calls, ...results].find((id) => !calls.has(id) || !results.has(id))
  if (alone !== undefined) {
    throw new TypeError(`history.compact: must keep the call and the result of ${alone} together, or leave out both`)
  }
}
