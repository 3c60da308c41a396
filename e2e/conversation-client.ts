import { createHash, randomUUID } from 'node:crypto'
import { createRandom } from '../packages/testkit/src/random.ts'
import { bearer } from './perdure-process.ts'

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The response fields that the test reads; which are present depends on the route. */
export interface Shown {
  readonly id: string
  readonly runId: string
  readonly status: string
  readonly state: string
  readonly deliveredTo?: string
  readonly error?: string
  readonly items: readonly Shown[]
}

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly key?: string
  readonly body?: object
  /** Sent instead of a JSON body. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Whether only the start of the answer is read. */
  readonly isStream?: boolean
}

export interface Answer {
  readonly status: number
  /** The run that a chat request has started. */
  readonly runId: string
  readonly bytes: Uint8Array
}

export const jsonOf = <T = Shown>({ bytes }: Answer): T => JSON.parse(Buffer.from(bytes).toString()) as T

/** A file that the server has acknowledged. */
export interface StoredFile {
  readonly id: string
  readonly sha256: string
  /** The chats of which a request with this file was acknowledged. */
  readonly holders: Set<string>
}

/** A message that was acknowledged, with its content after the last acknowledged edit. */
export interface Sent {
  readonly runId: string
  text: string
  /** The hashes of its files. */
  files: readonly string[]
  isWithdrawn: boolean
}

export interface Conversation {
  readonly chat: string
  readonly sent: Sent[]
  interrupts: number
}

/** A file part of a message, and what it stands for. */
interface Attached {
  readonly url: string
  readonly sha256: string
  readonly stored?: StoredFile
}

const MEDIA_TYPE = 'application/octet-stream'

export type ConversationClient = ReturnType<typeof createConversationClient>

/** A client that repeats each request, under the same key, until it is answered, and remembers what was acknowledged. */
export function createConversationClient(server: { readonly token: string; url(): string }, seed: number) {
  const random = createRandom(seed)
  const between = (min: number, max: number) => min + Math.floor(random() * (max - min + 1))
  const oneOf = <T>(values: readonly T[]): T => values[between(0, values.length - 1)] as T
  const stored: StoredFile[] = []
  /** The chats to which a content was sent as a data URL, for which the server may use a file that it has. */
  const sentAsData = new Map<string, Set<string>>()
  const violations: string[] = []
  let isOver = false
  let keys = 0
  const nextKey = () => `key-${seed}-${++keys}`

  const send = async ({ method, path, key, body, bytes, isStream }: Ask): Promise<Answer> => {
    const headers = {
      ...bearer(server.token),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(bytes === undefined ? {} : { 'content-type': MEDIA_TYPE }),
    }
    const sent = bytes ?? (body === undefined ? null : JSON.stringify(body))
    const response = await fetch(server.url() + path, { method, headers, body: sent })
    const runId = response.headers.get('x-perdure-run-id') ?? ''
    if (isStream === true && response.status === 200) {
      await response.body?.cancel().catch(() => undefined)
      return { status: 200, runId, bytes: new Uint8Array() }
    }
    return { status: response.status, runId, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  const mayComeLater = (answer: Answer): boolean =>
    answer.status === 503 || (answer.status === 409 && jsonOf(answer).error === 'idempotency-in-flight')

  const ask = async (request: Ask): Promise<Answer> => {
    while (!isOver) {
      try {
        const answer = await send(request)
        if (!mayComeLater(answer)) {
          if (answer.status >= 500) violations.push(`${request.method} ${request.path}: ${answer.status}`)
          return answer
        }
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
      await pause(5 + random() * 25)
    }
    throw new Error('the test is over')
  }

  /** Sends the request under a key, and expects one of these statuses. */
  const keyed = async (request: Omit<Ask, 'key'>, statuses: readonly number[]): Promise<Answer> => {
    const answer = await ask({ ...request, key: nextKey() })
    if (!statuses.includes(answer.status)) {
      const text = Buffer.from(answer.bytes).toString()
      violations.push(`${request.method} ${request.path}: ${answer.status} ${text}`)
    }
    return answer
  }

  /** Few contents, so that files share them; each second one is too large for the database. */
  const content = (): Uint8Array<ArrayBuffer> => {
    const kind = between(0, 9)
    const length = kind % 2 === 0 ? 200 + kind * 100 : 66_000 + kind * 9_000
    return Uint8Array.from({ length }, (_, index) => (index * (kind + 3)) % 251)
  }

  const attach = async (): Promise<Attached> => {
    const how = random()
    if (how < 0.25) {
      const bytes = content()
      return { url: `data:${MEDIA_TYPE};base64,${Buffer.from(bytes).toString('base64')}`, sha256: sha256Of(bytes) }
    }
    if (how > 0.8 && stored.length > 0) return partOf(oneOf(stored))
    const bytes = content()
    const answer = await keyed({ method: 'POST', path: '/files', bytes }, [201])
    const file: StoredFile = { id: jsonOf(answer).id, sha256: sha256Of(bytes), holders: new Set() }
    stored.push(file)
    return partOf(file)
  }

  const attachAll = async (): Promise<readonly Attached[]> => {
    const attached: Attached[] = []
    for (let count = Math.max(0, between(-1, 2)); count > 0; count--) attached.push(await attach())
    return attached
  }

  const hold = (chat: string, attached: readonly Attached[]) => {
    for (const { stored: file, sha256 } of attached) {
      if (file === undefined) sentAsData.set(sha256, (sentAsData.get(sha256) ?? new Set()).add(chat))
      else file.holders.add(chat)
    }
  }

  const start = async (conversation: Conversation, text: string, attached: readonly Attached[]): Promise<Sent> => {
    const { chat } = conversation
    const onBusy = oneOf(['queue', 'queue', 'steer', 'steer', 'interrupt'] as const)
    if (onBusy === 'interrupt') conversation.interrupts++
    const isPage = random() < 0.5 || attached.some(({ stored: file }) => file === undefined)
    const answer = await keyed(
      isPage
        ? pageRequest(chat, onBusy, messageOf(text, attached))
        : restRequest(chat, onBusy, messageOf(text, attached)),
      isPage ? [200] : [202],
    )
    hold(chat, attached)
    const runId = isPage ? answer.runId : jsonOf(answer).runId
    const sent: Sent = { runId, text, files: hashesOf(attached), isWithdrawn: false }
    conversation.sent.push(sent)
    return sent
  }

  /** Returns whether the message still waited. */
  const edit = async (chat: string, sent: Sent, text: string, attached: readonly Attached[]): Promise<boolean> => {
    const body = { input: inputOf(messageOf(text, attached)) }
    const { status } = await keyed({ method: 'PATCH', path: `/runs/${sent.runId}`, body }, [200, 409])
    if (status !== 200) return false
    hold(chat, attached)
    Object.assign(sent, { text, files: hashesOf(attached) })
    return true
  }

  const deliver = async (conversation: Conversation, name: string): Promise<void> => {
    const { chat } = conversation
    const sent = await start(conversation, name, await attachAll())
    const change = random()
    // A burst meets the moment at which a run takes the message.
    const isBurst = change > 0.1 && change < 0.5
    for (let edits = 0; edits < (isBurst ? 12 : 2) && change < 0.6; edits++) {
      await pause(isBurst ? 0 : between(0, 30))
      const attached = isBurst ? [] : (await attachAll()).filter(({ stored: file }) => file !== undefined)
      if (!(await edit(chat, sent, `${name} edited ${edits}`, attached))) break
    }
    if (change < 0.15 || change > 0.9) {
      await pause(between(0, 15))
      const { status } = await keyed({ method: 'POST', path: `/runs/${sent.runId}/withdraw`, body: {} }, [200, 409])
      sent.isWithdrawn = status === 200
    }
  }

  const runsOf = async (chat: string): Promise<readonly Shown[]> =>
    jsonOf(await ask({ method: 'GET', path: `/runs?sessionId=${chat}&limit=200` })).items

  const untilEnded = async (chat: string): Promise<void> => {
    const until = performance.now() + STALLED_MS
    for (;;) {
      const open = (await runsOf(chat)).filter(({ status }) => !ENDED.includes(status))
      if (open.length === 0) return
      if (performance.now() > until) return void violations.push(`${chat}: runs are left ${JSON.stringify(open)}`)
      await pause(15)
    }
  }

  return {
    ...{ ask, keyed, violations, stored, sentAsData, random, between, runsOf },
    end() {
      isOver = true
    },
    /** Sends messages, some while others wait, until all of them are answered. */
    async converse(chat: string): Promise<Conversation> {
      const conversation: Conversation = { chat, sent: [], interrupts: 0 }
      await keyed({ method: 'POST', path: '/sessions', body: { id: chat } }, [201])
      const deliveries: Promise<void>[] = []
      for (let number = 1, count = between(2, 7); number <= count; number++) {
        deliveries.push(deliver(conversation, `${chat} m${number}`))
        await Promise.race([pause(between(0, 120)), Promise.all(deliveries)])
      }
      await Promise.all(deliveries)
      await untilEnded(chat)
      return conversation
    },
    /** A last turn, whose prompt has the whole conversation. */
    async finish({ chat, sent }: Conversation): Promise<void> {
      const text = `${chat} last`
      const answer = await keyed(restRequest(chat, 'queue', messageOf(text, [])), [202])
      sent.push({ runId: jsonOf(answer).runId, text, files: [], isWithdrawn: false })
      await untilEnded(chat)
    },
    bytesOf: (id: string) => ask({ method: 'GET', path: `/files/${id}` }),
  }
}

const STALLED_MS = 60_000
const ENDED = ['completed', 'aborted', 'failed']

const partOf = (file: StoredFile): Attached => ({ url: `/v1/files/${file.id}`, sha256: file.sha256, stored: file })
const hashesOf = (attached: readonly Attached[]) => attached.map(({ sha256 }) => sha256)

type Message = readonly object[]

const messageOf = (text: string, attached: readonly Attached[]): Message => [
  { type: 'text', text },
  ...attached.map(({ url }) => ({ type: 'file', mediaType: MEDIA_TYPE, url })),
]

const inputOf = (content: Message) => ({ messages: [{ role: 'user', content }] })

const restRequest = (sessionId: string, onBusy: string, content: Message): Omit<Ask, 'key'> => ({
  ...{ method: 'POST', path: '/agents/chat/stream' },
  body: { input: inputOf(content), sessionId, onBusy },
})

const pageRequest = (id: string, onBusy: string, parts: Message): Omit<Ask, 'key'> => ({
  ...{ method: 'POST', path: '/agents/chat/chat', isStream: true },
  body: { id, trigger: 'submit-message', messages: [{ id: randomUUID(), role: 'user', parts, metadata: { onBusy } }] },
})
