export { createInMemoryStorage, type InMemoryStorageOptions } from './in-memory-storage.ts'
