import {
  EVERY_ROW,
  type EventStream,
  isRefusal,
  perdureError,
  type RunStore,
  type SessionStore,
  type Visibility,
} from '@perdure/ports'
import {
  isTerminal,
  type ParsedSubject,
  parseSubject,
  type ScopeRule,
  SUBJECTS,
  type SubjectName,
  scopesOfSubject,
} from '@perdure/protocol'
import { authorize } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'

export interface AuthorizeSubjectDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly sessions: Pick<SessionStore, 'find'>
}

/** A subject that the caller is allowed to follow. */
export interface AuthorizedSubject {
  readonly subject: string
  readonly stream: EventStream
  /**
   * Where a subscriber without a cursor starts: at the first event for a run, at the head of the log for any other
   * subject.
   */
  readonly startsAt: 'first' | 'head'
  /** Whether no further events will be appended. */
  readonly isComplete: boolean
}

/**
 * Decides whether a principal may follow a subject, based on the principal's scopes and the stored owner.
 *
 * @throws PerdureError `validation-failed` if the text is not a subject, `scope-denied`, `run-not-found`
 */
export type AuthorizeSubject = (principal: Principal, subject: string) => Promise<AuthorizedSubject>

export function createAuthorizeSubject(deps: AuthorizeSubjectDeps): AuthorizeSubject {
  return async (principal, subject) => {
    const parsed = parseSubject(subject)
    if (parsed === undefined) {
      throw perdureError('validation-failed', {
        message: 'subject: this server has no such subject',
        hint: 'use a subject from the events reference; wildcards are not supported',
      })
    }
    const visibility = authorize(principal, ruleOf(parsed.name), parsed.params)
    if (parsed.params.runId !== undefined) return followRun(deps, { subject, parsed, visibility })
    await checkOwner(deps, parsed, visibility)
    const { sessionId } = parsed.params
    const stream: EventStream = sessionId === undefined ? { topic: subject } : { sessionId }
    return { subject, stream, startsAt: 'head', isComplete: false }
  }
}

/** The events of a run are visible to every caller that can read it with `GET /runs/:runId`. */
function ruleOf(name: SubjectName): ScopeRule {
  const anyOf = scopesOfSubject(name)
  return anyOf.length === 1 ? SUBJECTS[name].scope : { anyOf }
}

interface FollowRequest {
  readonly subject: string
  readonly parsed: ParsedSubject
  readonly visibility: Visibility
}

async function followRun(
  deps: AuthorizeSubjectDeps,
  { subject, parsed, visibility }: FollowRequest,
): Promise<AuthorizedSubject> {
  const { runId = '', sessionId, agentId, workflowId } = parsed.params
  // The run is read before its events: if the run ends in between, its last event still ends the stream.
  const run = await deps.runs.find(runId, sessionId === undefined ? visibility : EVERY_ROW)
  const kind = agentId === undefined ? 'workflow' : 'agent'
  const matchesTarget = run?.kind === kind && run.targetId === (agentId ?? workflowId)
  const matchesSubject = sessionId === undefined ? matchesTarget : run?.sessionId === sessionId
  const isVisible = sessionId === undefined || (await maySeeSession(deps, sessionId, visibility))
  if (run === undefined || !matchesSubject || !isVisible) throw perdureError('run-not-found')
  return { subject, stream: { runId }, startsAt: 'first', isComplete: isTerminal(run.status) }
}

/** A grant on the caller's own rows does not cover a subject that carries the rows of every owner. */
async function checkOwner(deps: AuthorizeSubjectDeps, { name, params }: ParsedSubject, visibility: Visibility) {
  if (visibility === EVERY_ROW) return
  if (params.sessionId !== undefined && (await maySeeSession(deps, params.sessionId, visibility))) return
  const scope = SUBJECTS[name].scope.replace('{sessionId}', params.sessionId ?? '')
  throw perdureError('scope-denied', { hint: `use a token with the scope ${scope}` })
}

/** A caller with a grant on every session may also follow a session that its first run has not created yet. */
const maySeeSession = async ({ sessions }: AuthorizeSubjectDeps, id: string, visibility: Visibility) =>
  visibility === EVERY_ROW || (await sessions.find(id, visibility)) !== undefined

const SCOPES = [...new Set((Object.keys(SUBJECTS) as SubjectName[]).flatMap(scopesOfSubject))]

/** Whether the principal may follow any subject at all. */
export function canFollowAny(principal: Principal): boolean {
  return SCOPES.some((scope) => {
    try {
      const coversAllRows = !scope.includes('{')
      return authorize(principal, coversAllRows ? scope : { anyOf: [scope] }, {}) === EVERY_ROW || !coversAllRows
    } catch (error) {
      if (isRefusal(error) && error.code === 'scope-denied') return false
      throw error
    }
  })
}
