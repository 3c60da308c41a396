import type { File, Kind } from './actions.fixture.ts'
import type { Message } from './expected.fixture.ts'
import type { UiMessage } from './page.fixture.ts'
import { type Call, FILE_TYPE, type World } from './server-world.fixture.ts'

export interface RunRow {
  readonly id: string
  readonly status: string
}

export interface Sending {
  readonly chatId: string
  readonly via: 'page' | 'rest'
  readonly onBusy?: string
  /** What the page shows. */
  readonly view?: readonly UiMessage[]
}

/** More than the database takes. */
const LARGE = 70_000

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

export type ChatClient = ReturnType<typeof createChatClient>

/** A client that sends each request under a key, and expects one status. */
export function createChatClient(world: World, { agentId, name }: { readonly agentId: string; readonly name: string }) {
  let keys = 0
  let texts = 0
  const sessions = new Map<string, string>()
  const nextKey = () => `key-${name}-${++keys}`

  const ask = async <T>(call: Call, expected: number): Promise<T> => {
    const { status, bytes } = await world.call(call)
    if (status !== expected) throw new Error(`${call.method} ${call.path}: ${status} ${textOf(bytes)}`)
    return JSON.parse(textOf(bytes)) as T
  }
  const get = <T>(path: string) => ask<T>({ method: 'GET', path }, 200)
  const post = <T>(path: string, body: object, status = 200) =>
    ask<T>({ method: 'POST', path, body, key: nextKey() }, status)
  const patch = (path: string, body: object) => ask<unknown>({ method: 'PATCH', path, body, key: nextKey() }, 200)

  /** A message over REST needs a chat that a page has begun. */
  const sessionOf = async (chatId: string): Promise<string> => {
    const known = sessions.get(chatId)
    if (known !== undefined) return known
    const { sessionId } = await get<{ readonly sessionId: string }>(`/agents/${agentId}/chats/${chatId}`)
    sessions.set(chatId, sessionId)
    return sessionId
  }

  /** A page sends files with the message; a client of REST uploads them before. */
  const urlOf = async (file: string, via: 'page' | 'rest'): Promise<string> => {
    const upload = file.endsWith('!') ? file.padEnd(LARGE) : file
    if (via === 'page') return `data:${FILE_TYPE};base64,${btoa(upload)}`
    const { id } = await ask<{ readonly id: string }>({ method: 'POST', path: '/files', key: nextKey(), upload }, 201)
    return `/v1/files/${id}`
  }

  /** Sends what a page sends. Returns the id of the run. */
  const stream = async (body: object): Promise<string> => {
    const call = { method: 'POST', path: `/agents/${agentId}/chat`, key: nextKey(), body, isStream: true } as const
    const { status, runId, bytes } = await world.call(call)
    if (status !== 200) throw new Error(`chat: ${status} ${textOf(bytes)}`)
    return runId
  }

  return {
    ...{ get, post, patch, stream },
    newMessage(kind: Kind, file: File = 'none'): Message {
      const text = `${kind} ${name}${++texts}`
      return { text, file: file === 'none' ? undefined : `file of ${text}${file === 'large' ? '!' : ''}` }
    },
    runsOf: async (chatId: string) =>
      (await get<{ readonly items: readonly RunRow[] }>(`/runs?sessionId=${await sessionOf(chatId)}&limit=200`)).items,
    /** Sends the message. Returns the id of its run. */
    async start({ text, file }: Message, { chatId, via, onBusy, view = [] }: Sending): Promise<string> {
      const files = file === undefined ? [] : [{ type: 'file', mediaType: FILE_TYPE, url: await urlOf(file, via) }]
      const parts = [{ type: 'text', text }, ...files]
      if (via === 'rest') {
        const input = { messages: [{ role: 'user', content: parts }] }
        const body = { input, sessionId: await sessionOf(chatId), ...(onBusy === undefined ? {} : { onBusy }) }
        return (await post<{ readonly runId: string }>(`/agents/${agentId}/stream`, body, 202)).runId
      }
      const metadata = onBusy === undefined ? {} : { metadata: { onBusy } }
      const message = { id: `id of ${text}`, role: 'user', parts, ...metadata }
      return stream({ id: chatId, trigger: 'submit-message', messages: [...view, message] })
    },
  }
}
