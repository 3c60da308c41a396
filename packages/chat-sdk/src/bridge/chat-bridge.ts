import type { AgentDefinition, RunContext, WorkflowDefinition } from '@perdure/core'
import { defineWorkflow } from '@perdure/core'
import type { ServerConfigInput } from '@perdure/protocol'
import type { Chat, Message, StateAdapter, Thread } from 'chat'
import type { ChatServer } from '../chat-server.ts'
import type { PerdureState } from '../state/perdure-state.ts'
import { createCallers } from './callers.ts'
import type { ChatEvent, ChatUser, Delivery } from './chat-event.ts'
import { type HandleEventDeps, handleEvent, RETRIES } from './handle-event.ts'
import { createDeliveryReader } from './read-delivery.ts'
import { createRunWatch } from './run-watch.ts'

/** How the requests of a platform are verified; see `webhooks.in` of the configuration. */
export type ChatHook = Pick<ChatBridgeHook, 'verify' | 'secretRef' | 'toleranceSeconds'>

export interface ChatBridgeOptions {
  /** The Chat, made with `state: perdureState()`. */
  readonly chat: Chat
  /** The agent that answers, or its id. */
  readonly agent: string | Pick<AgentDefinition, 'id'>
  /** How the requests of each adapter of the Chat are verified, by the name of the adapter. */
  readonly hooks: Readonly<Record<string, ChatHook>>
  /** Makes the input of a run. Default: `{ text }`, the text of the message without the mention of the bot at its start. */
  readonly input?: (message: Message, thread: Thread) => unknown
  /** Whether a message asks to stop instead of starting a turn. Default: its text is the word "stop". */
  readonly isStop?: (message: Message) => boolean
  /** Whether a person may decide approvals of runs that others have started. Default: nobody may. */
  readonly mayDecide?: (user: ChatUser) => boolean | Promise<boolean>
  /** What a thread shows when a turn is refused or fails. `code` is that of the error. */
  readonly errorText?: (code: string, runId?: string) => string
  /** Shortest time between two edits of a message while the answer streams. Default: 1,000 ms. */
  readonly updateIntervalMs?: number
  /** The id of the workflow that handles deliveries. Default: `chat-bridge`. */
  readonly id?: string
}

/** Connects a Chat to an agent. Each member is for the member of the configuration with the same name. */
export interface ChatBridge {
  /** For `webhooks.in`. */
  readonly hooks: ChatBridgeHook[]
  /** For `workflows`. */
  readonly workflow: WorkflowDefinition<string, unknown, void, unknown>
  /** For `hooks.onReady`. */
  readonly onReady: (server: ChatServer) => void
  /** For the option `webhookVerifier` of an adapter: accepts only requests that a hook of this bridge has verified. */
  readonly webhookVerifier: (request: Request) => boolean
}

/** An item of `webhooks.in`. */
export type ChatBridgeHook = NonNullable<NonNullable<ServerConfigInput['webhooks']>['in']>[number]

/** The text without the mention of the bot at its start, which every message to it has outside of subscribed threads. */
const textOf = ({ text, isMention = false }: Message): string =>
  (isMention ? text.replace(/^\s*<?@[^\s>]+>?/, '') : text).trim()

const isStopWord = (message: Message): boolean => textOf(message).toLowerCase() === 'stop'

const defaultErrorText = (code: string, runId?: string): string =>
  runId === undefined ? `I could not take this message (${code}).` : `An error occurred (run ${runId}).`

/** Most crashes that one delivery survives. */
const RECOVERIES = 999

export function chatBridge(options: ChatBridgeOptions): ChatBridge {
  const {
    chat,
    agent,
    id = 'chat-bridge',
    input = (message) => ({ text: textOf(message) }),
    isStop = isStopWord,
  } = options
  const { mayDecide = () => false, errorText = defaultErrorText, updateIntervalMs = 1_000 } = options
  const state = stateOf(chat)
  const agentId = typeof agent === 'string' ? agent : agent.id
  const { promise: server, resolve } = Promise.withResolvers<ChatServer>()
  const reader = createDeliveryReader({ chat, state, input, isStop })
  const callers = createCallers(() => server, agentId)
  const runWatch = createRunWatch(callers, agentId)
  const deps: HandleEventDeps = {
    ...{ chat, state, agentId, mayDecide, errorText, updateIntervalMs, now: Date.now },
    ...{ callers, runWatch },
  }

  const run = async (sent: unknown, ctx: RunContext): Promise<void> => {
    const delivery = sent as Delivery
    const events: readonly ChatEvent[] = await ctx.step('read', () => reader.read(delivery), RETRIES)
    for (const event of events) await handleEvent(deps, ctx, event)
  }

  return {
    hooks: Object.entries(options.hooks).map(([adapter, hook]) => ({
      ...{ id: adapter, ...hook },
      to: {
        workflow: id,
        input: ({ headers, deliveryId, text }) => ({
          ...{ adapter, deliveryId, body: text, contentType: headers['content-type'] ?? 'application/json' },
        }),
      },
    })),
    workflow: defineWorkflow({
      ...{ id, description: 'Handles the deliveries of chat platforms.', recoveries: RECOVERIES, run },
    }),
    onReady(ready) {
      state.attach(ready)
      resolve(ready)
      // If the server stops meanwhile, the next one does it.
      runWatch.wakeAll().catch(() => undefined)
    },
    webhookVerifier: reader.isVerified,
  }
}

const isPerdureState = (state: StateAdapter): state is PerdureState =>
  'duringDelivery' in state && typeof state.duringDelivery === 'function'

/** @throws TypeError */
function stateOf(chat: Chat): PerdureState {
  const state = chat.getState()
  if (isPerdureState(state)) return state
  throw new TypeError('the Chat has another state: make it with state: perdureState()')
}
