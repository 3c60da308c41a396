import { type ChatInput, CODE_PARTS, defineAgent, type RegistrationOptions, type RunContext } from '@perdure/core'
import type { LanguageModel, ToolSet } from 'ai'
import type { Durable } from '../durable-types.ts'
import { findRunOf } from '../run.ts'
import type { Options } from '../sdk.ts'
import { callOptionsOf, chatInputWith } from './call-option-input.ts'
import { chatInput } from './chat-input.ts'
import { checkTitle, withTitle } from './chat-title.ts'
import type { ChatAgentDefinition, ChatAgentInput, ChatHistory } from './chat-types.ts'
import { checkHistory, compactionOf } from './compaction.ts'
import { COMPACTION } from './durable-agent-class.ts'
import { createSummarize } from './summarize.ts'

/** The options of a registration, which the SDK does not know. */
const REGISTRATION: ReadonlySet<string> = new Set([
  ...[
    'version',
    'description',
    'concurrency',
    'onBusy',
    'onBusyWaiting',
    'rateLimit',
    'debounce',
    'onCrash',
    'recoveries',
    'retries',
  ],
  ...['budget', 'tags', 'protocols', 'fromChat'],
])

/** The options of a chat agent itself. */
const OWN: ReadonlySet<string> = new Set(['history', 'title'])

/** A message that comes while the agent works waits for the end of the turn. */
const DEFAULTS = { concurrency: 'session', onBusy: 'queue' } as const

interface StreamingAgent {
  stream(options: Options): PromiseLike<object>
}

/** An agent of the server from the settings of an agent of the SDK, and the options of its registration. */
export function createChatAgent<Id extends string, Tools extends ToolSet>(
  durable: (ctx?: RunContext) => Durable,
  given: Options,
): ChatAgentDefinition<Id, Tools> {
  const { id } = given
  if (typeof id !== 'string' || id === '') throw new TypeError('a chat agent needs an id: the name that clients use')
  const entries = Object.entries(given)
  const registration = Object.fromEntries(entries.filter(([name]) => REGISTRATION.has(name)))
  const settings = Object.fromEntries(entries.filter(([name]) => !REGISTRATION.has(name) && !OWN.has(name)))
  const { tools = {}, history, title } = given as Pick<Options, 'tools' | 'title'> & { readonly history?: ChatHistory }
  checkTitle(title)

  const byDefault = () => createSummarize(durable)({ model: settings.model as LanguageModel })
  // A mistake is told when the agent is defined, not by its first run.
  checkHistory(history)

  const run = async (input: ChatAgentInput, ctx: RunContext) => {
    const ai = durable(ctx)
    const compaction = compactionOf(findRunOf(ctx), history, byDefault)
    const agent = new ai.ToolLoopAgent({ ...settings, [COMPACTION]: compaction } as never) as unknown as StreamingAgent
    const messages = await ai.messages({ tools: tools as ToolSet, maxTurns: history?.maxTurns })
    const answer = await agent.stream({ messages, ...(await callOptions(settings, input)) })
    return withTitle(answer, { ctx, ai, title, messages })
  }
  const { concurrency = DEFAULTS.concurrency } = registration as Pick<RegistrationOptions, 'concurrency'>
  const waiting = concurrency === 'session' ? ({ onBusyWaiting: 'deny' } as const) : {}
  const defined = defineAgent({
    ...DEFAULTS,
    ...waiting,
    ...inputOf(settings.callOptionsSchema),
    ...registration,
    id,
    run,
  })
  return { ...defined, [CODE_PARTS]: codePartsOf(settings) } as unknown as ChatAgentDefinition<Id, Tools>
}

/** The settings that are data. Those that are functions are in the source. */
function codePartsOf({ model, tools, ...settings }: Options): unknown {
  const { provider, modelId } = (typeof model === 'object' && model !== null ? model : {}) as Options
  const named = Object.entries((tools ?? {}) as Options).map(([name, tool]) => [
    name,
    typeof tool === 'object' && tool !== null && 'description' in tool ? tool.description : undefined,
  ])
  const data = Object.entries(settings).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return { model: typeof model === 'string' ? model : [provider, modelId], tools: named, settings: data }
}

/** Without `fromChat`, a chat with invalid options would be taken as its text alone. */
const inputOf = (callOptionsSchema: unknown) =>
  callOptionsSchema === undefined
    ? { input: chatInput }
    : { input: chatInputWith(callOptionsSchema), fromChat: (chat: ChatInput) => chat }

/** The other members of a chat request are the call options of an agent that has a schema for them. */
const callOptions = async ({ callOptionsSchema }: Options, input: ChatAgentInput): Promise<Options> =>
  callOptionsSchema === undefined ? {} : callOptionsOf(callOptionsSchema, input)
