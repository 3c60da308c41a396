import type { ReceivedFile } from '@perdure/core'
import type { fileOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { fileResponse } from '../response/file-response.ts'

type Deps = Pick<UseCases, 'readFiles' | 'storeFile' | 'deleteFile'>

/** `/files`: storing, reading and deleting attachments. */
export const fileRoutes = ({ readFiles, storeFile, deleteFile }: Deps): Handlers<typeof fileOperations> => ({
  listFiles: async ({ query: { sessionId, ...page }, visibility }) => ({
    status: 200,
    body: await readFiles.list({ sessionId }, page, visibility),
  }),
  uploadFile: ({ received, query, principal, key }) =>
    storeFile({ received: required(received), name: query.filename, principal, key }),
  getFile: async ({ params, visibility, header, ifNoneMatch }) =>
    fileResponse(await readFiles.open(params.fileId, visibility), {
      ...{ range: header('range'), ifRange: header('if-range'), ifNoneMatch },
    }),
  getFileMetadata: async ({ params, visibility }) => ({
    status: 200,
    body: await readFiles.get(params.fileId, visibility),
  }),
  deleteFile: ({ params, visibility, principal, key }) =>
    deleteFile({ fileId: params.fileId, visibility, principal, key }),
})

function required(received: ReceivedFile | undefined): ReceivedFile {
  if (received === undefined) throw new Error('the body stage has not received the file')
  return received
}
