import type { FileRecord } from '@perdure/ports'
import { BUILT_AT } from './builders.ts'

/** An upload of 5 bytes; only its required fields are set. */
export const aFile = (over: Partial<FileRecord> = {}): FileRecord => ({
  id: 'file_00000000000000000000000001',
  owner: 'alice',
  sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  size: 5,
  mediaType: 'text/plain',
  createdAt: BUILT_AT,
  ...over,
})
