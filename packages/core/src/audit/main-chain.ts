import type { AuditKeys, Clock, Logger, Storage, UnitOfWork } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { admitEveryRequest } from './admit-request.ts'
import type { AuditChain } from './audit-chain.ts'
import { withAuditChain } from './audit-unit-of-work.ts'
import { createRecordPrivilegedRequest } from './record-answer.ts'
import { createRequestLog } from './request-log.ts'

export interface MainChainDeps {
  readonly main: Pick<Storage, 'unitOfWork' | 'audit'>
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly logger: Logger
  readonly events: ServerConfig['audit']['events']
  /** Called with the number of entries appended. */
  readonly onAppended: (count: number) => void
}

/** Records privileged actions in the main database, each in the same commit as its action. */
export function createMainChain({ main, keys, clock, logger, events, onAppended }: MainChainDeps): AuditChain {
  const requestLog = createRequestLog()
  const counting: UnitOfWork = {
    async commit(writes) {
      const outcome = await main.unitOfWork.commit(writes)
      if (outcome.committed) onAppended(writes.filter(({ type }) => type === 'audit.append').length)
      return outcome
    },
  }
  const unitOfWork = withAuditChain(counting, { requestLog, keys, publish: events !== 'none' })

  return {
    log: main.audit,
    chainUnitOfWork: main.unitOfWork,
    unitOfWork,
    admit: admitEveryRequest,
    record: createRecordPrivilegedRequest({ clock, requestLog, logger, unitOfWork }),
    flush: async () => undefined,
    problem: () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
  }
}
