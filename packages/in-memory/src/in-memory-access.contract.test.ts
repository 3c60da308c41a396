import { lockoutStoreContract, ticketStoreContract } from '@perdure/testkit'
import { createInMemoryLockoutStore } from './in-memory-lockout-store.ts'
import { createInMemoryTicketStore } from './in-memory-ticket-store.ts'

ticketStoreContract({ name: 'in-memory', open: async () => createInMemoryTicketStore() })
lockoutStoreContract({ name: 'in-memory', open: async () => createInMemoryLockoutStore() })
