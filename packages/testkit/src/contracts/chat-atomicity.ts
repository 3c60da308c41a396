import { type Conflict, EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { aSession } from '../builders.ts'
import { aChat } from '../chat-builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `chat.${string}`>

const IDS = ['ses-chat', 'ses-new-chat']

export const seedChats = (storage: Storage) =>
  commit(storage, ...IDS.map((id) => ({ type: 'session.insert', session: aSession({ id }) }) as const), {
    type: 'chat.insert',
    chat: aChat({ sessionId: 'ses-chat' }),
  })

/** One write of every type. Each succeeds after the seed and has a visible effect. */
export const CHAT_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'chat.insert': { type: 'chat.insert', chat: aChat({ sessionId: 'ses-new-chat' }) },
  'chat.change': { type: 'chat.change', sessionId: 'ses-chat', change: { title: 'changed' } },
  'chat.last': {
    type: 'chat.last',
    sessionId: 'ses-chat',
    from: 0,
    last: { role: 'user', text: 'x', at: at(1), seq: 1 },
  },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const CHAT_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'chat.insert': { type: 'chat.insert', chat: aChat({ sessionId: 'ses-chat', agentId: 'other' }) },
}

/** Everything that the port returns about the rows that the seed and the changes touch. */
export const chatSnapshot = ({ chats }: Storage) =>
  chats.list({ agentId: 'echo' }, { limit: 200, order: 'asc' }, EVERY_ROW)
