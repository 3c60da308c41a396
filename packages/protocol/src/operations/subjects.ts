import type { OperationTable } from '../operation.ts'
import { ErasedData, SubjectUsage } from '../resources/subjects.ts'
import { RevokedSubject, RevokeSubjectRequest } from '../resources/tokens.ts'

export const subjectOperations = {
  getSubjectUsage: {
    id: 'subjects.usage',
    method: 'GET',
    path: '/subjects/:subject/usage',
    scope: 'principal',
    mayNeed: ['subjects:read'],
    idempotent: false,
    responses: { 200: { schema: SubjectUsage, description: 'What the subject uses, and its limits.' } },
    errors: ['scope-denied'],
    summary: 'See what a subject uses now and today: the caller, or with the scope `subjects:read` any other.',
  },
  exportSubject: {
    id: 'subjects.export',
    method: 'POST',
    path: '/subjects/:subject/export',
    scope: 'subjects:export',
    idempotent: true,
    changesNothing: true,
    privileged: true,
    responses: { 200: { stream: 'ndjson', description: 'One JSON record per line; the last line is a checksum.' } },
    errors: [],
    summary: 'Export what a subject owns.',
  },
  deleteSubject: {
    id: 'subjects.delete',
    method: 'DELETE',
    path: '/subjects/:subject',
    scope: 'subjects:delete',
    idempotent: true,
    privileged: true,
    responses: { 200: { schema: ErasedData, description: 'The number of deleted rows, and whether any are left.' } },
    errors: [],
    summary: 'Revoke the credentials of a subject, and delete what it owns.',
  },
  revokeSubject: {
    id: 'subjects.revoke',
    method: 'POST',
    path: '/subjects/:subject/revoke',
    scope: 'tokens:revoke',
    idempotent: true,
    privileged: true,
    body: RevokeSubjectRequest,
    responses: { 200: { schema: RevokedSubject, description: 'The credentials are refused from now on.' } },
    errors: [],
    summary: 'Revoke the JWTs and tokens of a user that were issued until now.',
  },
} as const satisfies OperationTable
