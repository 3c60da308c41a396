import { type HookVerifier, perdureError } from '@perdure/ports'
import type { HookConfig } from '@perdure/protocol'
import type { RunTarget } from '../targets/run-target.ts'
import type { TriggerRegistration } from '../triggers/trigger-definition.ts'

/** A hook of the configuration, ready to receive requests. */
export interface Hook extends Pick<HookConfig, 'id' | 'verify' | 'to'> {
  readonly verifier: HookVerifier
  /** The references to the secrets, in the order in which they are tried; the first one signs. */
  readonly secretRefs: readonly string[]
  /** Additional headers to store, in lower case. */
  readonly headers: readonly string[]
}

export type Hooks = ReadonlyMap<string, Hook>

/** Stored with every delivery, besides the headers of the platform. */
const COMMON_HEADERS = ['content-type', 'user-agent']

export function storedHeaders(
  { verifier, headers }: Hook,
  header: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  const names = [...new Set([...COMMON_HEADERS, ...verifier.headers, ...headers])]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** @throws PerdureError `hook-not-found` */
export function findHook(hooks: Hooks, hookId: string): Hook {
  const hook = hooks.get(hookId)
  if (hook === undefined) throw perdureError('hook-not-found')
  return hook
}

/** The id of the trigger that the configuration of a hook declares. */
const hookTriggerId = (hookId: string): string => `hook-${hookId}`

/** How the requests of a hook are verified, in one word. */
export const verifyNameOf = ({ verify }: Pick<Hook, 'verify'>): string => {
  if (typeof verify === 'function') return 'function'
  return typeof verify === 'string' ? verify : verify.kind
}

/** The triggers that start what the hooks of the configuration name in `to`. Every delivery starts a run. */
export const hookTriggers = (hooks: readonly Pick<HookConfig, 'id' | 'to'>[]): readonly TriggerRegistration[] =>
  hooks.flatMap(({ id, to }): readonly TriggerRegistration[] => {
    const started = startedBy(to)
    if (started === undefined) return []
    const target = started.kind === 'agent' ? { agentId: started.id } : { workflowId: started.id }
    return [{ id: hookTriggerId(id), kind: 'webhook', hook: id, overlap: 'allow', target }]
  })

/** What each delivery of a hook starts; `undefined` if it emits an event, or if only other triggers name the hook. */
export function startedBy(to: HookConfig['to']): Pick<RunTarget, 'kind' | 'id'> | undefined {
  if (to === undefined || 'event' in to) return undefined
  return 'agent' in to ? { kind: 'agent', id: to.agent } : { kind: 'workflow', id: to.workflow }
}
