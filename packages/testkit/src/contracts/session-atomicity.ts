import { type Conflict, toJsonText, type Write } from '@perdure/ports'
import { aMessage, aSession } from '../builders.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `session.${string}` | `message.${string}`>

export const SESSION = aSession({ id: 'ses-1' })

/** The run of the message that is stored before the changes. */
export const ASKED_RUN = 'run-asked'

/** One write of every type. Each succeeds after the seed and has a visible effect. */
export const SESSION_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'session.insert': { type: 'session.insert', session: aSession({ id: 'ses-2' }) },
  'session.update': {
    type: 'session.update',
    id: SESSION.id,
    from: SESSION,
    change: { title: 'new' },
    at: at(4),
  },
  'session.touch': { type: 'session.touch', id: SESSION.id, at: at(3) },
  'session.delete': { type: 'session.delete', id: 'ses-gone', answer: { status: 404, body: '' } },
  'message.append': {
    type: 'message.append',
    message: aMessage({ id: 'm2', sessionId: SESSION.id, createdAt: at(5) }),
  },
  'message.replace': {
    type: 'message.replace',
    sessionId: SESSION.id,
    runId: ASKED_RUN,
    content: toJsonText('edited'),
  },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const SESSION_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'session.insert': { type: 'session.insert', session: aSession({ id: SESSION.id }) },
  'session.update': {
    type: 'session.update',
    id: SESSION.id,
    from: { metadata: { other: '1' } },
    change: {},
    at: at(4),
  },
  'session.delete': { type: 'session.delete', id: 'ses-unknown', answer: { status: 200, body: '{}' } },
  'message.append': { type: 'message.append', message: aMessage({ id: 'm3', sessionId: 'ses-unknown' }) },
}
