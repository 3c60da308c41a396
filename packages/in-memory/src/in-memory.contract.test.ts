import { storageContract } from '@berth/testkit'
import { createInMemoryStorage } from './in-memory-storage.ts'

storageContract({ name: 'in-memory', open: async () => createInMemoryStorage() })
