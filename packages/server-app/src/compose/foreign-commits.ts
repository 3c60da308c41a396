import type { Auth, createTriggers, Engine } from '@perdure/core'
import type { CommitSignal, TailedEvent } from '@perdure/ports'

export interface ForeignCommitsDeps {
  readonly engine: Pick<Engine, 'foreignChanges' | 'onForeignTimer'>
  readonly triggers: { readonly daemon: Pick<ReturnType<typeof createTriggers>['daemon'], 'wake'> }
  readonly checkCredentials: Auth['checkCredentials']
}

/** What each part of this process does when another process has committed something. */
export function reactionsOf({ engine, triggers, checkCredentials }: ForeignCommitsDeps) {
  const { foreignChanges, onForeignTimer } = engine
  return {
    isWaiting: foreignChanges.isWaiting,
    onForeignEvent: (event: TailedEvent) => foreignChanges.onEvent(event),
    onSignal(signal: CommitSignal): void {
      if (signal.type === 'tokens') void checkCredentials()
      else if (signal.type === 'deleted') foreignChanges.checkAll()
      else if (signal.type === 'triggers') triggers.daemon.wake()
      else onForeignTimer(signal)
    },
    onSkip(): void {
      void checkCredentials()
      foreignChanges.checkAll()
      triggers.daemon.wake()
    },
  }
}
