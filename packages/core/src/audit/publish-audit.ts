import { type AuditEntry, type AuditLog, auditEvent, type Logger, type UnitOfWork } from '@perdure/ports'
import { OPERATIONS } from '@perdure/protocol'

export interface PublishAuditDeps {
  readonly chain: Pick<AuditLog, 'read' | 'state'>
  /** Of the main database, which holds the event log; publishes what it commits. */
  readonly unitOfWork: UnitOfWork
  readonly logger: Logger
  readonly which: 'privileged' | 'all'
}

/** Tells the event log of entries that are durable in a file of their own. What a crash leaves out is in the chain alone. */
export interface PublishAudit {
  /** From here on. */
  start(): Promise<void>
  /** Entries were appended. */
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
      const shown = which === 'all' ? entries : entries.filter(isPrivileged)
      if (shown.length > 0) await unitOfWork.commit([{ type: 'event.append', events: shown.map(auditEvent) }])
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
        .catch((error: unknown) => logger.error('audit entries not told to the event log', error))
      return publishing
    },
  }
}

/** What is no operation is an action of the server itself. */
const isPrivileged = ({ action, actor }: AuditEntry): boolean =>
  PRIVILEGED.has(action) || (actor.kind === 'system' && !KNOWN.has(action))
