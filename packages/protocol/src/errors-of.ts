import { ERRORS, type ErrorCode } from './errors.ts'
import { changesState, type Operation } from './operation.ts'

interface Implication {
  readonly when: (operation: Operation) => boolean
  readonly errors: readonly ErrorCode[]
}

const isAnswered = ({ refused }: Operation) => refused !== true
const isUnsafe = ({ method }: Operation) => method !== 'GET'
const needsCaller = ({ scope }: Operation) => scope !== null
const needsScope = ({ scope, mayNeed = [] }: Operation) =>
  scope !== null && (scope !== 'principal' || mayNeed.length > 0)

/** Errors that follow from the fields of an operation alone. */
const IMPLICATIONS: readonly Implication[] = [
  { when: () => true, errors: ['validation-failed', 'host-denied', 'rate-limit-exceeded', 'internal-error'] },
  { when: isUnsafe, errors: ['cors-denied', 'invalid-json', 'body-too-large', 'unsupported-media-type'] },
  { when: needsCaller, errors: ['auth-required', 'auth-invalid', 'auth-revoked', 'auth-expired'] },
  { when: needsCaller, errors: ['auth-locked-out', 'csrf-denied', 'auth-keys-unavailable'] },
  { when: (operation) => needsCaller(operation) && changesState(operation), errors: ['console-read-only'] },
  { when: needsCaller, errors: ['SQLITE_BUSY', 'storage-unavailable', 'storage-failed', 'audit-unavailable'] },
  { when: needsScope, errors: ['scope-denied'] },
  { when: ({ idempotent }) => idempotent, errors: ['idempotency-key-invalid', 'idempotency-key-required'] },
  {
    when: (operation) => operation.idempotent && isAnswered(operation),
    errors: ['idempotency-conflict', 'idempotency-in-flight'],
  },
  { when: (operation) => isUnsafe(operation) && isAnswered(operation), errors: ['storage-full'] },
  { when: (operation) => !isAnswered(operation), errors: ['not-implemented'] },
]

/**
 * Every error that the operation can return, in catalogue order. A request to an operation without a handler passes
 * every stage and then gets `not-implemented`. Such an operation never reserves an idempotency key and never returns an
 * error of its own, so these errors are left out.
 */
export function errorsOf(operation: Operation): readonly ErrorCode[] {
  const implied = IMPLICATIONS.flatMap(({ when, errors }) => (when(operation) ? errors : []))
  const codes = new Set<ErrorCode>(isAnswered(operation) ? [...implied, ...operation.errors] : implied)
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))
}
