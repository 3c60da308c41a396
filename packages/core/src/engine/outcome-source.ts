import type { StepKind } from '@perdure/ports'

/** The origin of the outcome of each kind of call. A fork can replace only an outcome that the code of the run has made. */
export const OUTCOME_SOURCES = {
  step: 'the code',
  version: 'the code',
  sleep: 'a timer',
  event: 'the sender of an event',
  approval: 'a person',
  child: 'a child run',
  'client-tool': 'the client',
} as const satisfies Record<StepKind, string>

export const isMadeByCode = (kind: StepKind): boolean => OUTCOME_SOURCES[kind] === 'the code'
