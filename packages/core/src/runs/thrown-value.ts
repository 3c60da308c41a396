import { isRefusal, type Refusal } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'

/** Whether a thrown value is a refusal with this code. Never throws, even for a proxy whose members throw. */
export function isRefusalWith(thrown: unknown, code: ErrorCode): thrown is Refusal {
  try {
    return isRefusal(thrown) && thrown.code === code
  } catch {
    return false
  }
}

/** Reads members of a thrown value, leaving out those that cannot be read. */
export function readThrown<Name extends string>(
  thrown: unknown,
  names: readonly Name[],
): { readonly [N in Name]?: unknown } {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return {}
  const found: { [N in Name]?: unknown } = {}
  for (const name of names) {
    try {
      found[name] = (thrown as Readonly<Record<string, unknown>>)[name]
    } catch {
      // The other members may still be readable.
    }
  }
  return found
}

/** The message of a thrown value, or the value as a string if it has no message. */
export function textOfThrown(thrown: unknown): string {
  try {
    const message = typeof thrown === 'object' ? (thrown as { readonly message?: unknown } | null)?.message : undefined
    return typeof message === 'string' && message !== '' ? message : String(thrown)
  } catch {
    return 'the thrown value cannot be converted to text'
  }
}

/** The name of a thrown error, or the type of another thrown value. */
export function nameOfThrown(thrown: unknown): string {
  const { name } = readThrown(thrown, ['name'])
  return typeof name === 'string' && name.length > 0 && name.length <= 128 ? name : typeof thrown
}

const MAX_CAUSES = 5

/** The chain of causes of a thrown value, nearest first. Ends where the chain repeats itself. */
export function causesOf(thrown: unknown): readonly unknown[] {
  const chain = [thrown]
  while (chain.length <= MAX_CAUSES) {
    const { cause } = readThrown(chain.at(-1), ['cause'])
    if (cause === undefined || cause === null || chain.includes(cause)) break
    chain.push(cause)
  }
  return chain.slice(1)
}
