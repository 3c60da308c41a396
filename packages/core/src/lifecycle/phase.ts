export type Phase = 'starting' | 'ready' | 'draining' | 'stopped'

/** Where the server is in its life. */
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
