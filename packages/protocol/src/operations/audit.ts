import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { AuditEntry, AuditFilterEntries, AuditVerification, VerifyAuditRequest } from '../resources/audit.ts'
import { listOf, PageEntries } from '../resources/list.ts'

export const auditOperations = {
  listAuditEntries: {
    id: 'audit.list',
    method: 'GET',
    path: '/audit',
    scope: 'audit:read',
    idempotent: false,
    query: v.strictObject({ ...PageEntries, ...AuditFilterEntries }),
    responses: { 200: { schema: listOf(AuditEntry), description: 'Entries, newest first.' } },
    errors: [],
    summary: 'List audit entries.',
  },
  exportAudit: {
    id: 'audit.export',
    method: 'GET',
    path: '/audit/export',
    scope: 'audit:export',
    idempotent: false,
    privileged: true,
    query: v.strictObject({ ...AuditFilterEntries, format: v.optional(v.picklist(['ndjson', 'csv']), 'ndjson') }),
    responses: {
      200: { stream: 'ndjson', description: 'One JSON entry per line, oldest first; CSV with format=csv.' },
    },
    errors: [],
    summary: 'Export the audit log.',
  },
  verifyAudit: {
    id: 'audit.verify',
    method: 'POST',
    path: '/audit/verify',
    scope: 'audit:verify',
    idempotent: false,
    changesNothing: true,
    body: VerifyAuditRequest,
    responses: {
      200: { schema: AuditVerification, description: 'Whether the chain is intact, and if not, the first bad entry.' },
    },
    errors: ['overloaded'],
    summary: 'Verify the audit chain.',
  },
} as const satisfies OperationTable
