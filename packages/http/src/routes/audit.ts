import type { auditOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { toByteStream } from '../response/byte-stream.ts'

/** `/audit`: the audit log, its export and its verification. */
export const auditRoutes = ({
  listAudit,
  exportAudit,
  verifyAudit,
}: Pick<UseCases, 'listAudit' | 'exportAudit' | 'verifyAudit'>): Handlers<typeof auditOperations> => ({
  async listAuditEntries({ query }) {
    const { limit, cursor, order, ...filter } = query
    return { status: 200, body: await listAudit(filter, { limit, cursor, order }) }
  },
  async exportAudit({ query: { format, ...filter }, principal }) {
    const { contentType, fileName, chunks } = await exportAudit({ format, filter, principal })
    const disposition = `attachment; filename="${fileName}"`
    const headers = { 'Content-Type': contentType, 'Content-Disposition': disposition }
    return new Response(toByteStream(chunks), { headers })
  },
  verifyAudit: async ({ body }) => ({ status: 200, body: await verifyAudit(body.expected) }),
})
