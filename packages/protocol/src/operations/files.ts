import * as v from 'valibot'
import { OperatorId } from '../ids.ts'
import type { OperationTable } from '../operation.ts'
import { File, FileName } from '../resources/files.ts'
import { listOf, PageEntries } from '../resources/list.ts'

const READ = 'files:read:{fileId}'

export const fileOperations = {
  listFiles: {
    id: 'files.list',
    method: 'GET',
    path: '/files',
    scope: { anyOf: [READ] },
    idempotent: false,
    query: v.strictObject({ ...PageEntries, sessionId: v.optional(OperatorId) }),
    responses: { 200: { schema: listOf(File), description: 'Files, newest first.' } },
    errors: [],
    summary: 'List files.',
  },
  uploadFile: {
    id: 'files.upload',
    method: 'POST',
    path: '/files',
    scope: 'files:write',
    idempotent: true,
    takesFile: true,
    query: v.strictObject({ filename: v.optional(FileName) }),
    responses: { 201: { schema: File, location: true, description: 'The file is stored.' } },
    errors: ['file-quota-exceeded'],
    summary: 'Store a file. The body is its content; the header Content-Type is its media type.',
  },
  getFile: {
    id: 'files.get',
    method: 'GET',
    path: '/files/:fileId',
    scope: READ,
    idempotent: false,
    responses: {
      200: { stream: 'bytes', description: 'The content of the file.' },
      206: { stream: 'bytes', description: 'The part of the content that the header Range names.' },
    },
    errors: ['file-not-found', 'range-not-satisfiable'],
    summary: 'Read the content of a file.',
  },
  getFileMetadata: {
    id: 'files.metadata',
    method: 'GET',
    path: '/files/:fileId/metadata',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: File, description: 'The file, without its content.' } },
    errors: ['file-not-found'],
    summary: 'Read the name, type and size of a file.',
  },
  deleteFile: {
    id: 'files.delete',
    method: 'DELETE',
    path: '/files/:fileId',
    scope: 'files:write:{fileId}',
    idempotent: true,
    responses: { 204: { description: 'The file is deleted.' } },
    errors: ['file-not-found', 'file-in-use'],
    summary: 'Delete a file that no session and no run holds.',
  },
} as const satisfies OperationTable
