import { setTimeout as pause } from 'node:timers/promises'
import { type AgentRegistration, toCallerText } from '@perdure/core'
import { EVERY_ROW } from '@perdure/ports'
import { ADMIN_SCOPE, type Duration } from '@perdure/protocol'
import { type ChatPage, openChatPage } from './chat-page.ts'
import { type ChatRun, chatRuns } from './chat-runs.ts'
import { type CrashableStorage, type CrashPoint, crashable } from './crash-points.ts'
import type { RunAgentOptions } from './run-agent.ts'
import { msOf, openWorld, type World, type WorldStores } from './world.ts'

export interface OpenChatOptions extends Omit<RunAgentOptions, 'request'> {
  /** The module `ai` whose chat builds the messages, version 6 or 7. Default: the installed one. */
  readonly sdk?: object
}

/** A file of a message. */
export interface TestFile {
  readonly type: 'file'
  readonly mediaType: string
  /** A data URL, or the URL of a stored file. */
  readonly url: string
  readonly filename?: string
}

/** A message of an agent whose type names none. */
export interface AnyChatMessage {
  readonly id: string
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly [member: string]: unknown }>
}

/** The message that a page shows for this agent. */
export type MessageOf<Agent> = Agent extends { readonly '~message'?: infer Message }
  ? unknown extends Message
    ? AnyChatMessage
    : NonNullable<Message>
  : AnyChatMessage

/** The names of the tools of this agent. */
export type ToolNameOf<Agent> = Agent extends { readonly '~tools'?: infer Tools }
  ? keyof NonNullable<Tools> & string
  : string

/**
 * A chat in a test, as a page shows it. Each method acts as a user would, and resolves once the agent has answered or waits
 * for something outside.
 */
export interface TestChat<Message = AnyChatMessage, ToolName extends string = string> {
  /** The messages of the page, oldest first. */
  readonly messages: readonly Message[]
  /** The text of the newest answer. */
  readonly text: string
  /** The tools whose calls wait for an approval. */
  readonly waitingFor: readonly ToolName[]
  /** What the page shows as the error of the newest request. */
  readonly error: Error | undefined
  send(text: string, files?: readonly TestFile[]): Promise<void>
  /**
   * Sends a message while the agent works on another one, with `onBusy: 'steer'`, as a second tab does. Resolves once the
   * server has accepted it; the registration must allow `steer`.
   */
  steer(text: string): Promise<void>
  /** Approves the open call of this tool. @throws Error if there is none */
  approve(tool: ToolName): Promise<void>
  /** Denies the open call of this tool. @throws Error if there is none */
  deny(tool: ToolName, reason?: string): Promise<void>
  /** Replaces the newest message of the user. */
  edit(text: string): Promise<void>
  /** Asks for another answer to the newest message. */
  regenerate(): Promise<void>
  /** Opens the chat again: the page reads the messages from the server, and follows an answer that is being written. */
  reload(): Promise<void>
  /** Advances the clock, and ends the durable waits that become due. */
  advance(duration: Duration): Promise<void>
  /**
   * Kills the server during the next action, at this point. It starts again, and the page resumes. An action that ends
   * before the point throws.
   */
  crash(point: CrashPoint): void
  /** Reads the runs of the conversation so far, oldest first, with their events. */
  runs(): Promise<readonly ChatRun[]>
}

type Sdk = Parameters<typeof openChatPage>[0]['sdk']

const QUIET_MS = 25

/**
 * Opens a chat with an agent in a test, in this process. The server is real except for its storage, which is in memory,
 * and the clock; the messages are built by the chat of the AI SDK, which must be installed.
 */
export async function openChat<const Agent extends AgentRegistration>(
  agent: Agent,
  { sdk, owner = 'test', caller, ...given }: OpenChatOptions = {},
): Promise<TestChat<MessageOf<Agent>, ToolNameOf<Agent>>> {
  const ai = (sdk ?? (await import('ai'))) as Sdk
  const options = { ...given, agents: [agent, ...(given.agents ?? [])] }
  const principal = { subject: owner, scopes: ['admin:*'], caller: toCallerText(caller ?? {}) }
  const chatId = 'chat-1'
  const api = `/v1/agents/${encodeURIComponent(agent.id)}/chat`
  const first = await openWorld(options)
  const whole: WorldStores = { clock: first.clock, storage: first.storage, blobs: first.blobs }
  let crash: CrashableStorage
  let world: World
  let page: ChatPage
  /** Requests of the page that have no answer yet, and those that this process has received. */
  let requests = 0
  let sent = 0

  /** Starts a server process on what the earlier ones have stored. */
  const boot = async () => {
    crash = crashable(whole.storage)
    world = await openWorld(options, { ...whole, storage: crash.storage })
    sent = 0
    await world.composition.engine.recover()
    await world.composition.engine.start()
  }

  const request = (path: string, init: RequestInit = {}) =>
    world.composition.app.fetch(new Request(new URL(path, 'http://localhost'), init), { caller: principal })

  const send: typeof fetch = async (input, init) => {
    requests++
    sent++
    try {
      return await Promise.race([
        request(String(input), init),
        crash.crashed.then(() => Promise.reject(new TypeError('the server was killed'))),
      ])
    } finally {
      requests--
    }
  }

  const read = async (): Promise<ReturnType<ChatPage['messages']>> => {
    const response = await request(`${api}/${chatId}/messages`)
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as ReturnType<ChatPage['messages']>
  }

  const openPage = async () => {
    page = openChatPage({
      sdk: ai,
      id: chatId,
      api: `${api}?v=${'WebSocketChatTransport' in ai ? 7 : 6}`,
      fetch: send,
      messages: await read(),
    })
  }

  const isWorking = () => {
    const { executing } = world.composition.engine.readLoad()
    return requests > 0 || executing.agent + executing.workflow > 0
  }

  /** Whether nothing changes any more, although the page may still follow a run that waits. */
  const isQuiet = async (): Promise<boolean> => {
    if (isWorking()) return false
    const since = performance.now()
    while (performance.now() - since < QUIET_MS) {
      world.clock.pass(0)
      await pause(1)
      if (isWorking() || crash.hasCrashed()) return false
    }
    return page.quietMs() >= QUIET_MS
  }

  const restart = async () => {
    const { streams } = world.composition
    await boot()
    await streams.closeAll()
    // The SDK sends an answer to an approval again by itself.
    while (page.isBusy() && sent === 0) await pause(1)
    if (sent === 0) void page.resume()
  }

  /** Waits for the outcome of an action. */
  const settle = async (): Promise<void> => {
    while (!(await isQuiet())) {
      await pause(1)
      if (!crash.hasCrashed()) continue
      await restart()
    }
  }

  /** Acts on the page, and follows what comes of it. A request that is refused is in `error`. */
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    void action().catch(() => undefined)
    await pause(0)
    await settle()
    if (crash.isArmed()) throw new Error('the action has ended before the point of the crash')
  }

  /** Something may have happened that no open stream of the page has shown. */
  const catchUp = async () => {
    await settle()
    if (!page.isBusy()) await act(() => page.resume())
  }

  const openCalls = () => page.messages().flatMap(({ parts }) => parts.flatMap(openCallIn))

  const decide = async (tool: string, approved: boolean, reason?: string) => {
    const open = openCalls().find(({ name }) => name === tool)
    if (open !== undefined) {
      const answer = { id: open.approvalId, approved, ...(reason === undefined ? {} : { reason }) }
      return act(async () => page.chat.addToolApprovalResponse(answer))
    }
    const { items } = await world.composition.engine.readApprovals.list(PENDING, WHOLE_PAGE, EVERY_ROW)
    const known = items.find(({ name }) => name === tool)
    if (known === undefined) {
      const names = [...openCalls().map(({ name }) => name), ...items.map(({ name }) => name)].join(', ')
      throw new Error(`no call of ${tool} waits for an approval; waiting: ${names || 'none'}`)
    }
    const decision = {
      approvalId: known.id,
      approved,
      reason,
      by: 'decider',
      scopes: [ADMIN_SCOPE],
      visibility: EVERY_ROW,
    } as const
    await world.composition.engine.resolveApproval(decision)
    await catchUp()
  }

  await boot()
  await openPage()

  const chat: TestChat = {
    get messages() {
      return page.messages() as readonly AnyChatMessage[]
    },
    get text() {
      const answer = page.messages().findLast(({ role }) => role === 'assistant')
      return (answer?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    },
    get waitingFor() {
      return openCalls().map(({ name }) => name)
    },
    get error() {
      return page.error()
    },
    send: (text, files = []) => act(() => page.chat.sendMessage({ text, files: [...files] })),
    async steer(text) {
      const message = {
        ...{ id: `steering-${performance.now()}`, role: 'user', metadata: { onBusy: 'steer' } },
        parts: [{ type: 'text', text }],
      }
      const response = await request(api, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: chatId, messages: [message] }),
      })
      if (!response.ok) throw new Error(await response.text())
      await response.body?.cancel()
    },
    approve: (tool) => decide(tool, true),
    deny: (tool, reason) => decide(tool, false, reason),
    async edit(text) {
      const last = page.messages().findLast(({ role }) => role === 'user')
      if (last === undefined) throw new Error('the chat has no message to edit')
      await act(() => page.chat.sendMessage({ text, messageId: last.id }))
    },
    regenerate: () => act(() => page.chat.regenerate()),
    async reload() {
      await openPage()
      await act(() => page.resume())
    },
    async advance(duration) {
      world.clock.pass(msOf(duration))
      await catchUp()
    },
    crash: (point) => crash.arm(point),
    runs: () => chatRuns(world),
  }
  return chat as TestChat<MessageOf<Agent>, ToolNameOf<Agent>>
}

const PENDING = { status: 'pending' } as const
const WHOLE_PAGE = { limit: 200, order: 'asc' } as const

type Part = ReturnType<ChatPage['messages']>[number]['parts'][number]

/** The call that the part asks about, if it waits for an approval. */
function openCallIn(part: Part): ReadonlyArray<{ readonly name: string; readonly approvalId: string }> {
  if (!('state' in part) || part.state !== 'approval-requested') return []
  const name = 'toolName' in part ? part.toolName : part.type.replace(/^tool-/, '')
  return [{ name, approvalId: part.approval.id }]
}
