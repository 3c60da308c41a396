export type Phase = 'starting' | 'ready' | 'draining' | 'stopped'

/** The lifecycle phase of the server. */
export interface PhaseHolder {
  current(): Phase
  enter(phase: Phase): void
}

export function createPhase(): PhaseHolder {
  let phase: Phase = 'starting'
  return {
    current: () => phase,
    enter(next) {
      phase = next
    },
  }
}
