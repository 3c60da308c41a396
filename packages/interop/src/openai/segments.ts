import type { LogEvent } from '@perdure/core'
import { askingItems, awaitsClient, beginFold, type FoldState, foldEvent, isStateEvent } from '@perdure/core'

/**
 * The fold of a run, divided into the parts that one response of OpenAI shows. A segment ends where the run waits for
 * its client; the next one begins with the answer. Both follow from the log alone.
 */
export interface Segments {
  /** The number of the current segment, from 1. */
  readonly current: () => number
  readonly fold: () => FoldState
  /** Whether the run waits for its client. */
  readonly isResting: () => boolean
  /** Folds the next event, and returns whether a segment begins with it. */
  next(event: LogEvent): boolean
}

/** @param first the segment with which the log begins */
export function createSegments(runId: string, first = 1): Segments {
  let fold = beginFold(runId)
  let current = first
  let isResting = false
  return {
    current: () => current,
    fold: () => fold,
    isResting: () => isResting,
    next(event) {
      if (isStateEvent(event)) return false
      const before = fold
      fold = foldEvent(before, event)
      if (fold === before) return false
      if (isResting && ANSWERS.has(event.type)) {
        isResting = false
        current += 1
        return true
      }
      if (QUESTIONS.has(event.type)) isResting = isAwaiting(fold)
      return false
    },
  }
}

/** A run can ask many questions before it waits, so they are listed only while it does. */
const isAwaiting = ({ run, content }: FoldState): boolean =>
  run.status === 'suspended' && awaitsClient({ ...run, items: askingItems(content) })

/** The events after which the run can wait for its client. */
const QUESTIONS: ReadonlySet<string> = new Set(['run.suspended', 'approval.requested', 'tool.approval.requested'])

/** The events that answer a run which waits for its client. An abort is not one: it ends the segment that waits. */
export const ANSWERS: ReadonlySet<string> = new Set([
  'approval.resolved',
  'approval.expired',
  'run.resumed',
  'tool.result',
])
