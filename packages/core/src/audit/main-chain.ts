import type { AuditKeys, Clock, Logger, Storage, UnitOfWork } from '@perdure/ports'
import { admitAll } from './admit-request.ts'
import type { AuditChain } from './audit-chain.ts'
import { withAuditChain } from './audit-unit-of-work.ts'
import { createDeedBook } from './deed-book.ts'
import { createRecordPrivileged } from './record-answer.ts'

export interface MainChainDeps {
  readonly main: Pick<Storage, 'unitOfWork' | 'audit'>
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly logger: Logger
  readonly events: 'privileged' | 'all' | 'none'
  /** Entries were appended. */
  readonly onAppended: (count: number) => void
}

/** Privileged actions, in the commits of what they tell of. */
export function createMainChain({ main, keys, clock, logger, events, onAppended }: MainChainDeps): AuditChain {
  const deeds = createDeedBook()
  const counting: UnitOfWork = {
    async commit(writes) {
      const outcome = await main.unitOfWork.commit(writes)
      if (outcome.committed) onAppended(writes.filter(({ type }) => type === 'audit.append').length)
      return outcome
    },
  }
  const unitOfWork = withAuditChain(counting, { deeds, keys, publish: events !== 'none' })

  return {
    log: main.audit,
    owner: main.unitOfWork,
    unitOfWork,
    admit: admitAll,
    record: createRecordPrivileged({ clock, deeds, logger, unitOfWork }),
    settle: async () => undefined,
    problem: () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
  }
}
