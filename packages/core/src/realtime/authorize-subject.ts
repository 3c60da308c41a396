import { isTerminal } from '@perdure/protocol'
import {
  AppError,
  EVERY_ROW,
  type EventStream,
  type RunStore,
  type SessionStore,
  type Visibility,
} from '@perdure/ports'
import {
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

/** A subject that the caller may follow. */
export interface Followed {
  readonly subject: string
  readonly stream: EventStream
  /** Where one without a cursor starts: a run at its first event, anything else with what comes. */
  readonly startsAt: 'first' | 'head'
  /** Whether nothing will be appended any more. */
  readonly isComplete: boolean
}

/**
 * Decides from the scopes and the stored owner whether a principal may follow a subject.
 *
 * @throws AppError `validation-failed` for what is no subject, `scope-denied`, `run-not-found`
 */
export type AuthorizeSubject = (principal: Principal, subject: string) => Promise<Followed>

export function createAuthorizeSubject(deps: AuthorizeSubjectDeps): AuthorizeSubject {
  return async (principal, subject) => {
    const parsed = parseSubject(subject)
    if (parsed === undefined) {
      throw new AppError('validation-failed', {
        message: 'subject: not one of the subjects of this server',
        hint: 'the reference page on events lists them; there are no wildcards',
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

/** One run is seen by whom `GET /runs/:runId` shows it. */
function ruleOf(name: SubjectName): ScopeRule {
  const anyOf = scopesOfSubject(name)
  return anyOf.length === 1 ? SUBJECTS[name].scope : { anyOf }
}

interface Asked {
  readonly subject: string
  readonly parsed: ParsedSubject
  readonly visibility: Visibility
}

async function followRun(deps: AuthorizeSubjectDeps, { subject, parsed, visibility }: Asked): Promise<Followed> {
  const { runId = '', sessionId, agentId, workflowId } = parsed.params
  // The run is read before its events: one that ends in between is still found ended by its last event.
  const run = await deps.runs.find(runId, sessionId === undefined ? visibility : EVERY_ROW)
  const kind = agentId === undefined ? 'workflow' : 'agent'
  const isOfTarget = run?.kind === kind && run.targetId === (agentId ?? workflowId)
  const isThere = sessionId === undefined ? isOfTarget : run?.sessionId === sessionId
  const isVisible = sessionId === undefined || (await maySeeSession(deps, sessionId, visibility))
  if (run === undefined || !isThere || !isVisible) throw new AppError('run-not-found')
  return { subject, stream: { runId }, startsAt: 'first', isComplete: isTerminal(run.status) }
}

/** A grant on what is one's own says nothing of a subject that carries everybody's rows. */
async function checkOwner(deps: AuthorizeSubjectDeps, { name, params }: ParsedSubject, visibility: Visibility) {
  if (visibility === EVERY_ROW) return
  if (params.sessionId !== undefined && (await maySeeSession(deps, params.sessionId, visibility))) return
  const scope = SUBJECTS[name].scope.replace('{sessionId}', params.sessionId ?? '')
  throw new AppError('scope-denied', { hint: `the token needs the scope ${scope}` })
}

/** With a grant on every session, one that is not there yet may be followed: its first run creates it. */
const maySeeSession = async ({ sessions }: AuthorizeSubjectDeps, id: string, visibility: Visibility) =>
  visibility === EVERY_ROW || (await sessions.find(id, visibility)) !== undefined

const SCOPES = [...new Set((Object.keys(SUBJECTS) as SubjectName[]).flatMap(scopesOfSubject))]

/** Whether there is any subject that the principal could follow. */
export function couldFollow(principal: Principal): boolean {
  return SCOPES.some((scope) => {
    try {
      const isOfEverybody = !scope.includes('{')
      return authorize(principal, isOfEverybody ? scope : { anyOf: [scope] }, {}) === EVERY_ROW || !isOfEverybody
    } catch (error) {
      if (error instanceof AppError && error.id === 'scope-denied') return false
      throw error
    }
  })
}
