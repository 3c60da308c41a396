import { fromJsonText, perdureError, toJsonText } from '@perdure/ports'
import { createJsonVersion, type JsonVersion } from '@perdure/protocol'

/** The state that the code of a run has shown in this execution. A re-execution shows the same states again. */
export interface ShownState {
  isKnown(): boolean
  /** The state after the patch. */
  patched(patch: unknown): ReturnType<JsonVersion['patched']>
  /**
   * Reads an event that the code emits. Call the returned function once the event is accepted.
   *
   * @throws PerdureError `validation-failed` for a patch beyond the limits of `PATCH_LIMITS`
   */
  read(type: string, payload: unknown): () => void
}

export function createShownState(): ShownState {
  let current: JsonVersion | undefined

  const patched: ShownState['patched'] = (patch) => (current ?? createJsonVersion({})).patched(patch)

  return {
    isKnown: () => current !== undefined,
    patched,
    read(type, payload) {
      if (type !== 'part.state' && type !== 'part.state-delta') return ignore
      // A copy, which later changes of the caller's object do not reach.
      const copy = fromJsonText(toJsonText(payload ?? {})) as { state?: unknown; patch?: unknown } | null
      const { state = null, patch } = copy ?? {}
      if (type === 'part.state') {
        return () => {
          current = createJsonVersion(state)
        }
      }
      const result = patched(patch)
      // Another patch may be meant for a state that a step has shown, which is not executed again.
      if (!result.ok) return result.exceeds ? refuse(result.problem) : ignore
      return () => {
        current = result.version
      }
    },
  }
}

const ignore = (): void => undefined

const refuse = (problem: string): never => {
  throw perdureError('validation-failed', {
    message: `the event part.state-delta: ${problem}`,
    hint: 'emit the whole state with part.state, or show less of it',
  })
}
