import type { FileUIPart } from 'ai'
import type { SupportMessage } from './support-agent.ts'

export const api = '/v1/agents/support/chat'
const chats = '/v1/agents/support/chats'

/** A chat as the list shows it. */
export interface ChatRow {
  readonly chatId: string
  readonly title: string
  readonly unread: boolean
  readonly status: 'idle' | 'queued' | 'running' | 'suspended'
  readonly runId?: string
}

/** A message that waits for the agent. */
export interface Queued {
  readonly runId: string
  readonly onBusy: 'queue' | 'steer' | 'interrupt'
  readonly content: { readonly text: string }
}

/** A refund that waits for staff. */
export interface Approval {
  readonly id: string
  readonly payload: { readonly orderId: string; readonly amount: number }
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(path, { method, ...init })
  const text = await response.text()
  if (!response.ok) throw new Error(text || response.statusText)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

const page = <Item>(path: string) => ask<{ readonly items: readonly Item[] }>('GET', path).then(({ items }) => items)
const chatPath = (chatId: string) => `${chats}/${encodeURIComponent(chatId)}`

export const readMessages = (chatId: string) =>
  ask<SupportMessage[]>('GET', `${api}/${encodeURIComponent(chatId)}/messages`)
export const readQueue = (chatId: string) => page<Queued>(`${api}/${encodeURIComponent(chatId)}/queue`)
export const stopAnswer = (chatId: string) => ask('POST', `${api}/${encodeURIComponent(chatId)}/stop`, {})

/** Sends a message while the agent works. The queue shows it until the agent takes it. */
export async function sendWhileBusy(chatId: string, text: string, onBusy: 'queue' | 'steer'): Promise<void> {
  const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }], metadata: { onBusy } }
  const response = await fetch(api, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: chatId, messages: [message] }),
  })
  if (!response.ok) throw new Error(await response.text())
  await response.body?.cancel()
}

export const editQueued = (runId: string, text: string) => ask('PATCH', `/v1/runs/${runId}`, { input: { text } })
export const withdrawQueued = (runId: string) => ask('POST', `/v1/runs/${runId}/withdraw`, {})

export const listChats = () => page<ChatRow>(`${chats}?limit=50`)
export const renameChat = (chatId: string, title: string) => ask('PATCH', chatPath(chatId), { title })
export const markRead = (chatId: string) => ask('PATCH', chatPath(chatId), { read: true })
export const deleteChat = (chatId: string) => ask('DELETE', chatPath(chatId))
export const forkChat = (chatId: string) => ask<ChatRow>('POST', `${chatPath(chatId)}/fork`, {})

export const listApprovals = () => page<Approval>('/v1/approvals?status=pending')
export const decide = (id: string, approved: boolean) => ask('POST', `/v1/approvals/${id}/resolve`, { approved })

/** The photo as a part of the message, so that the server stores it and the model receives it. */
export function toFilePart(photo: File): Promise<FileUIPart> {
  const { promise, resolve, reject } = Promise.withResolvers<FileUIPart>()
  const reader = new FileReader()
  reader.onload = () =>
    resolve({ type: 'file', mediaType: photo.type, filename: photo.name, url: String(reader.result) })
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(photo)
  return promise
}
