import type { StreamPart } from '../model-parts/stream-part.ts'
import type { CallScope } from './call-scope.ts'
import { knownAnswersOf } from './logged-answers.ts'

type BlockPart = Extract<StreamPart, { readonly kind: 'block' }>

/**
 * The parts of a stream without those that the log has. Their text is still heard, so that it counts for the result. A block
 * begins only with its first text that is not in the log.
 */
export function createLogFilter(scope: CallScope): (part: StreamPart) => readonly StreamPart[] {
  const held = new Map<string, BlockPart>()

  const block = (part: BlockPart): readonly StreamPart[] => {
    const key = `${part.of}:${part.id}`
    if (part.op === 'end') return held.delete(key) ? [] : [part]
    held.set(key, part)
    return []
  }

  const repeated = (part: StreamPart): readonly StreamPart[] =>
    part.kind === 'delta' ? [{ kind: 'heard', of: part.of, delta: part.delta }] : []

  return (part) => {
    if (part.kind === 'block') return block(part)
    if (knownAnswersOf(scope)?.repeats(part) === true) return repeated(part)
    if (part.kind !== 'delta') return [part]
    const key = `${part.of}:${part.id ?? ''}`
    const start = held.get(key)
    held.delete(key)
    return start === undefined ? [part] : [start, part]
  }
}
