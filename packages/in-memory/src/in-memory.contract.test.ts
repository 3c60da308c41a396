import { storageContract } from '@perdure/testkit'
import { createInMemoryStorage } from './in-memory-storage.ts'

storageContract({ name: 'in-memory', open: async () => createInMemoryStorage() })
