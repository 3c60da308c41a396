import type { AuditEntry, Clock, UnitOfWork } from '@perdure/ports'
import { type AuditResource, toAuditResource } from './audit-resource.ts'
import { type AuditActor, auditWrite } from './audit-write.ts'
import { type AuditFilter, type ReadAuditDeps, walkAudit } from './read-audit.ts'
import { requireAudit } from './require-audit.ts'

/** First characters that make a spreadsheet interpret a cell as a formula or a command. */
const FORMULA = /^[=+\-@\t\r\0]/

/** One RFC 4180 record with its line end. A cell that looks like a formula is prefixed with an apostrophe. */
export const csvRow = (cells: readonly unknown[]): string => `${cells.map(toCell).join(',')}\r\n`

function toCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export interface ExportAuditDeps extends ReadAuditDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  /** Writes pending entries to the chain. */
  readonly flush: () => Promise<void>
}

export interface AuditExport {
  readonly contentType: string
  readonly fileName: string
  /** Chunks of the document. Entries are read from the chain when the consumer requests the next chunk. */
  readonly chunks: AsyncIterable<string>
}

/**
 * Exports the chain as a document. The export writes an audit entry of its own before it reads the chain.
 *
 * @throws PerdureError `audit-unavailable`
 */
export type ExportAudit = (request: {
  readonly format: 'ndjson' | 'csv'
  readonly filter: AuditFilter
  readonly principal: AuditActor
}) => Promise<AuditExport>

export function createExportAudit(deps: ExportAuditDeps): ExportAudit {
  const { unitOfWork, clock, flush } = deps

  return async ({ format, filter, principal }) => {
    const write = auditWrite(principal, { at: clock.now(), action: 'audit.export', detail: { format } })
    await requireAudit(() => unitOfWork.commit([write]))
    await flush()
    const { header, contentType, render } = FORMATS[format]
    return { contentType, fileName: `audit.${format}`, chunks: chunksOf(deps, filter, { header, render }) }
  }
}

interface Format {
  readonly header: string
  readonly render: (entry: AuditEntry) => string
}

async function* chunksOf(
  deps: ReadAuditDeps,
  filter: AuditFilter,
  { header, render }: Format,
): AsyncGenerator<string, void, void> {
  if (header !== '') yield header
  for await (const entries of walkAudit(deps, filter)) {
    if (entries.length > 0) yield entries.map(render).join('')
  }
}

const COLUMNS = {
  seq: ({ seq }) => seq,
  at: ({ at }) => at,
  actorKind: ({ actor }) => actor.kind,
  actorId: ({ actor }) => actor.id,
  actorSubject: ({ actor }) => actor.subject,
  action: ({ action }) => action,
  method: ({ method }) => method,
  route: ({ route }) => route,
  target: ({ target }) => target,
  decision: ({ decision }) => decision,
  status: ({ status }) => status,
  durationMs: ({ durationMs }) => durationMs,
  requestId: ({ requestId }) => requestId,
  ip: ({ ip }) => ip,
  detail: ({ detail }) => detail,
  prevHash: ({ prevHash }) => prevHash,
  hash: ({ hash }) => hash,
} as const satisfies Record<string, (entry: AuditResource) => unknown>

const FORMATS: Readonly<Record<'ndjson' | 'csv', Format & { readonly contentType: string }>> = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    header: '',
    render: (entry) => `${JSON.stringify(toAuditResource(entry))}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    header: csvRow(Object.keys(COLUMNS)),
    render(entry) {
      const resource = toAuditResource(entry)
      return csvRow(Object.values(COLUMNS).map((cell) => cell(resource)))
    },
  },
}
