import type { Frame } from '../projection.ts'
import { type CompletionProjector, type CompletionView, createCompletionProjector } from './completion-projector.ts'

/**
 * Shows a completion to a client that repeats its request, because the first answer was cut off: the same chunks from the
 * first one. If the run has withdrawn text of them, the chunks begin with the text that still counts.
 */
export function createRepeatedCompletion(view: CompletionView): CompletionProjector {
  const same = createCompletionProjector(view)
  const kept = createCompletionProjector({ ...view, isCatchingUp: true })
  const shown: Frame[] = []
  let opened: CompletionProjector | undefined
  return {
    next(event) {
      if (opened !== undefined) return opened.next(event)
      const frames = same.next(event)
      shown.push(...frames)
      kept.next(event)
      return frames
    },
    opening(of) {
      opened = same.hasRestarted() ? kept : same
      return opened === same && of === 'all' ? shown : opened.opening(of)
    },
    rest: () => (opened ?? same).rest(),
    isOver: () => (opened ?? kept).isOver(),
    hasRestarted: () => (opened ?? same).hasRestarted(),
    completion: () => kept.completion(),
  }
}
