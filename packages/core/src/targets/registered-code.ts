import type { RunKind } from '@perdure/ports'
import type { AgentRegistration, RunCode } from './agent.ts'
import type { RunOnCrash } from './registration.ts'
import type { WorkflowRegistration } from './workflow.ts'

type Registration = AgentRegistration | WorkflowRegistration

/** The method that holds the code, in the member that is named like the kind. */
const METHODS = { agent: 'run', workflow: 'execute' } as const satisfies Record<RunKind, string>

/** The default of `onCrash` for code in such a member. */
const ON_CRASH = { agent: 'fail', workflow: 'retry' } as const satisfies Record<RunKind, RunOnCrash>

interface RegisteredCode {
  readonly code: RunCode
  /** The default of `onCrash`. */
  readonly onCrash: RunOnCrash
}

/** The code of a registration, or why it has none. Expects any value, as configuration modules may be plain JavaScript. */
export function codeOf(kind: RunKind, registration: Registration | undefined): RegisteredCode | { problem: string } {
  const { run, holder } = membersOf(kind, registration)
  if (run !== undefined && holder !== undefined) return { problem: `it has both run and ${kind}; remove one of them` }
  if (run !== undefined) {
    return isCode(run) ? { code: bound(run, registration), onCrash: 'retry' } : { problem: 'run must be a function' }
  }
  const code = methodOf(kind, holder)
  if (isCode(code)) return { code: bound(code, holder), onCrash: ON_CRASH[kind] }
  return { problem: holder === undefined ? 'run is missing' : `${kind}.${METHODS[kind]} must be a function` }
}

/** The registration with other code, in the same member. Returns a registration without code unchanged. */
export function mapCode<Given extends Registration>(
  kind: RunKind,
  registration: Given,
  change: (code: RunCode) => RunCode,
): Given {
  const { run, holder } = membersOf(kind, registration)
  if (isCode(run)) return { ...registration, run: change(bound(run, registration)) }
  const code = methodOf(kind, holder)
  if (!isCode(code)) return registration
  const { id } = holder as { readonly id?: string }
  const changed = { ...(id === undefined ? {} : { id }), [METHODS[kind]]: change(bound(code, holder)) }
  return { ...registration, [kind]: changed }
}

function membersOf(kind: RunKind, registration: unknown): { readonly run?: unknown; readonly holder?: unknown } {
  if (typeof registration !== 'object' || registration === null) return {}
  const { run, [kind]: holder } = registration as Readonly<Record<string, unknown>>
  return { run, holder }
}

const methodOf = (kind: RunKind, holder: unknown): unknown =>
  (holder as Readonly<Record<string, unknown>> | null | undefined)?.[METHODS[kind]]

const isCode = (value: unknown): value is RunCode => typeof value === 'function'

const bound =
  (code: RunCode, holder: unknown): RunCode =>
  (input, context) =>
    code.call(holder, input, context)
