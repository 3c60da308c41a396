import { type FlowKeys, perdureError, type RunRecord } from '@perdure/ports'
import type { FlowKey, FlowKeyMeta } from '../../targets/flow-control.ts'
import type { RunTarget } from '../../targets/run-target.ts'

const MAX_KEY_CHARACTERS = 512

type FlowTarget = Pick<RunTarget, 'kind' | 'id' | 'concurrency' | 'rateLimit' | 'debounce'>
type FlowRun = Pick<RunRecord, 'sessionId' | 'userId' | 'owner' | 'metadata'>

/**
 * The keys by which the limits of the target group a new run; `undefined` when it has none.
 *
 * @param input the parsed input
 * @throws PerdureError `invalid-input` for a key that is too long; `internal-error` when a key function fails
 */
export function flowKeysOf(target: FlowTarget, { sessionId, userId, owner, metadata }: FlowRun, input: unknown) {
  const { kind, id, concurrency, rateLimit, debounce } = target
  if (typeof concurrency === 'string' && rateLimit === undefined && debounce === undefined) return undefined
  const meta: FlowKeyMeta = { kind, targetId: id, sessionId, userId, owner, metadata }
  const keys: FlowKeys = {
    concurrency: typeof concurrency === 'string' ? undefined : keyOf('concurrency', concurrency.key, { meta, input }),
    rate: keyOf('rateLimit', rateLimit?.key, { meta, input }),
    debounce: debounceKey(meta, keyOf('debounce', debounce?.key, { meta, input })),
  }
  return Object.values(keys).every((key) => key === undefined) ? undefined : keys
}

/** Requests for different targets, sessions or users are never combined. */
const debounceKey = (
  { kind, targetId, sessionId, userId }: FlowKeyMeta,
  key: string | undefined,
): string | undefined =>
  key === undefined ? undefined : JSON.stringify([`${kind}:${targetId}`, sessionId ?? null, userId ?? null, key])

function keyOf(
  option: string,
  key: FlowKey | undefined,
  { meta, input }: { readonly meta: FlowKeyMeta; readonly input: unknown },
): string | undefined {
  const value = rawKeyOf(option, key, { meta, input })
  if (value === undefined) return undefined
  const name = `the key of ${option} of the ${meta.kind} ${meta.targetId}`
  if (value instanceof Promise) value.catch(() => undefined)
  if (typeof value !== 'string') {
    const found = value instanceof Promise ? 'a promise' : typeof value
    throw perdureError('internal-error', { message: `${name} is ${found}; it must be a string` })
  }
  if (value.length <= MAX_KEY_CHARACTERS) return value
  throw perdureError('invalid-input', {
    message: `${name} has ${value.length} characters; the limit is ${MAX_KEY_CHARACTERS}`,
    hint: 'send an input with a shorter value for the key',
  })
}

function rawKeyOf(
  option: string,
  key: FlowKey | undefined,
  { meta, input }: { readonly meta: FlowKeyMeta; readonly input: unknown },
): unknown {
  if (key === undefined) return undefined
  if (key === 'session') return meta.sessionId
  if (key === 'user') return meta.userId
  if (key === 'owner') return meta.owner
  try {
    return key(input, meta)
  } catch (cause) {
    const message = `the key function of ${option} of the ${meta.kind} ${meta.targetId} failed`
    throw perdureError('internal-error', { message, cause })
  }
}

/** The keys of a run that is not combined with others. */
export const withoutDebounce = (keys: FlowKeys | undefined): FlowKeys | undefined =>
  keys?.concurrency === undefined && keys?.rate === undefined ? undefined : { ...keys, debounce: undefined }
