import { defineConfig } from 'perdure'
import { support } from './support-agent.ts'

export default defineConfig({ agents: [support] })
