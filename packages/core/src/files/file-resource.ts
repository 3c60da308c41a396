import type { FileRecord } from '@perdure/ports'

/** The file as the API returns it. */
export const toFileResource = ({ createdAt, ...file }: FileRecord) => ({
  ...file,
  createdAt: new Date(createdAt).toISOString(),
})

export type FileResource = ReturnType<typeof toFileResource>
