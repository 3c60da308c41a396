import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SlackMessage {
  readonly ts: string
  readonly channel: string
  readonly thread_ts?: string | undefined
  readonly user: string
  readonly text: string
  readonly blocks?: readonly unknown[] | undefined
  readonly edits: number
}

/** Decides about a call: `cut` applies it and then cuts the connection, as a crash of the caller does, and `fail` answers with an error. */
export type Fault = (method: string, args: URLSearchParams) => 'cut' | 'fail' | undefined

const BOT = 'UBOT'

/** The parts of Slack's Web API that the adapter calls, and the requests that Slack sends to an app. */
export interface SlackMock {
  readonly apiUrl: string
  /** The messages of the bot, in order. */
  posted(): readonly SlackMessage[]
  readonly calls: readonly string[]
  readonly ephemeral: readonly string[]
  setFault(fault: Fault | undefined): void
  close(): Promise<void>
}

export async function startSlack(port = 0): Promise<SlackMock> {
  const messages: SlackMessage[] = []
  const calls: string[] = []
  const ephemeral: string[] = []
  let fault: Fault | undefined
  let last = 1_700_000_000_000_000

  const nextTs = () => {
    last += 1
    return `${Math.floor(last / 1_000_000)}.${String(last % 1_000_000).padStart(6, '0')}`
  }
  const blocksOf = (args: URLSearchParams) => {
    const blocks = args.get('blocks')
    return blocks === null ? undefined : (JSON.parse(blocks) as readonly unknown[])
  }
  const textOf = (args: URLSearchParams) => args.get('text') ?? args.get('markdown_text') ?? ''

  const methods: Readonly<Record<string, (args: URLSearchParams) => object>> = {
    'auth.test': () => ({ user_id: BOT, bot_id: 'BBOT', user: 'perdure' }),
    'users.info': (args) => {
      const user = args.get('user')
      const name = user === BOT ? 'perdure' : `${user}-name`
      return { user: { id: args.get('user'), name, real_name: name, profile: { display_name: name } } }
    },
    'chat.postMessage': (args) => {
      const [ts, channel] = [nextTs(), args.get('channel') ?? '']
      const thread_ts = args.get('thread_ts') ?? undefined
      messages.push({ ts, channel, thread_ts, user: BOT, text: textOf(args), blocks: blocksOf(args), edits: 0 })
      return { ts, channel }
    },
    'chat.update': (args) => {
      const at = messages.findIndex(({ ts }) => ts === args.get('ts'))
      const found = messages[at]
      if (found === undefined) return { ok: false, error: 'message_not_found' }
      messages[at] = { ...found, text: textOf(args), blocks: blocksOf(args), edits: found.edits + 1 }
      return { ts: found.ts, channel: found.channel }
    },
    'chat.postEphemeral': (args) => {
      ephemeral.push(`${args.get('user')}: ${textOf(args)}`)
      return { message_ts: nextTs() }
    },
    'conversations.replies': (args) => ({
      messages: messages
        .filter(({ channel, thread_ts }) => channel === args.get('channel') && thread_ts === args.get('ts'))
        .map(({ edits: _, ...message }) => ({ ...message, type: 'message', bot_id: 'BBOT' })),
    }),
    'conversations.info': (args) => ({ channel: { id: args.get('channel'), name: 'general' } }),
  }

  const server = createServer(async (request, response) => {
    const method = (request.url ?? '').split('/').at(-1) ?? ''
    const args = new URLSearchParams(await bodyOf(request))
    calls.push(method)
    const decision = fault?.(method, args)
    const answer = decision === 'fail' ? { ok: false, error: 'internal_error' } : methods[method]?.(args)
    if (decision === 'cut') {
      request.socket.destroy()
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ok: answer !== undefined, ...(answer ?? { error: 'unknown_method' }) }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: bound } = server.address() as AddressInfo
  return {
    apiUrl: `http://127.0.0.1:${bound}/api/`,
    posted: () => messages,
    calls,
    ephemeral,
    setFault(next) {
      fault = next
    },
    close: () => closed(server),
  }
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** A request that Slack sends, signed as Slack signs it. */
export function signedBySlack(secret: string, body: string, contentType = 'application/json') {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  const headers = {
    ...{ 'content-type': contentType, 'x-slack-request-timestamp': timestamp },
    'x-slack-signature': `v0=${signature}`,
  }
  return { method: 'POST', body, headers } as const
}

export interface SentMessage {
  readonly user: string
  readonly ts: string
  readonly text: string
  readonly threadTs?: string
  readonly type?: 'app_mention' | 'message'
}

/** The body of the event of a message. A mention and the same message in a channel are two events with the same `ts`. */
export const messageEvent = ({ user, ts, text, threadTs, type = 'message' }: SentMessage): string =>
  JSON.stringify({
    ...{ type: 'event_callback', team_id: 'T1', event_id: `Ev-${type}-${ts}` },
    event: {
      ...{ type, user, ts, text, channel: 'C1', channel_type: 'channel', team: 'T1', event_ts: ts },
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    },
  })

interface PressedButton {
  readonly user: string
  readonly message: SlackMessage
  readonly actionId: string
}

/** The form that Slack sends when somebody presses a button. */
export function buttonForm({ user, message, actionId }: PressedButton): string {
  const buttons = message.blocks?.flatMap((block) => (block as { elements?: readonly Button[] }).elements ?? []) ?? []
  const value = buttons.find((button) => button.action_id === actionId)?.value
  if (value === undefined) throw new Error(`the message has no button ${actionId}`)
  const { ts, thread_ts, channel } = message
  const payload = {
    ...{ type: 'block_actions', trigger_id: `trigger-${ts}-${user}-${actionId}`, team: { id: 'T1' } },
    ...{ user: { id: user, username: user, name: user }, channel: { id: channel, name: 'general' } },
    ...{ message: { ts, thread_ts }, container: { type: 'message', message_ts: ts, channel_id: channel, thread_ts } },
    actions: [{ type: 'button', action_id: actionId, block_id: 'b', value }],
  }
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
}

interface Button {
  readonly action_id?: string
  readonly value?: string
}
