import { type AuditEntry, type AuditLog, auditEvent, type Logger, type UnitOfWork } from '@perdure/ports'
import { OPERATIONS } from '@perdure/protocol'

export interface PublishAuditDeps {
  readonly chain: Pick<AuditLog, 'read' | 'state'>
  /** Unit of work of the main database, which holds the event log. */
  readonly unitOfWork: UnitOfWork
  readonly logger: Logger
  readonly which: 'privileged' | 'all'
}

/**
 * For a chain in its own file: publishes audit entries to the event log after they are durable. If the process crashes
 * before an entry is published, the entry is in the chain but never in the event log.
 */
export interface PublishAudit {
  /** Starts at the current end of the chain: only entries that are appended later are published. */
  start(): Promise<void>
  /** Publishes the entries appended since the last call. */
  publish(): Promise<void>
}

const PAGE = 200
const PRIVILEGED: ReadonlySet<string> = new Set(OPERATIONS.filter(({ privileged }) => privileged).map(({ id }) => id))
const KNOWN: ReadonlySet<string> = new Set(OPERATIONS.map(({ id }) => id))

export function createPublishAudit({ chain, unitOfWork, logger, which }: PublishAuditDeps): PublishAudit {
  let afterSeq = 0
  let publishing: Promise<void> = Promise.resolve()

  const publishAll = async () => {
    for (;;) {
      const entries = await chain.read({ afterSeq, limit: PAGE })
      const selected = which === 'all' ? entries : entries.filter(isPrivileged)
      if (selected.length > 0) await unitOfWork.commit([{ type: 'event.append', events: selected.map(auditEvent) }])
      afterSeq = entries.at(-1)?.seq ?? afterSeq
      if (entries.length < PAGE) return
    }
  }

  return {
    async start() {
      afterSeq = (await chain.state()).last?.seq ?? 0
    },
    publish() {
      publishing = publishing
        .then(publishAll)
        .catch((error: unknown) => logger.error('cannot publish audit entries to the event log', error))
      return publishing
    },
  }
}

/** Includes the server's own actions. An action that is not an operation was performed by the server itself. */
const isPrivileged = ({ action, actor }: AuditEntry): boolean =>
  PRIVILEGED.has(action) || (actor.kind === 'system' && !KNOWN.has(action))
