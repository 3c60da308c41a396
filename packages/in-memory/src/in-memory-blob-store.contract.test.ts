import { createHash } from 'node:crypto'
import { blobStoreContract } from '@perdure/testkit'
import { createInMemoryBlobStore } from './in-memory-blob-store.ts'

const digest = {
  startSha256() {
    const hash = createHash('sha256')
    return { update: (part: string | Uint8Array) => void hash.update(part), end: () => hash.digest('hex') }
  },
}

blobStoreContract({
  name: 'in-memory',
  async open(at) {
    let now = at
    const blobs = createInMemoryBlobStore({ clock: { now: () => now }, digest })
    return {
      blobs,
      setClock: (later) => {
        now = later
      },
    }
  },
})
