import { defineConfig } from 'perdure'
import { support } from './support-agent.ts'

export default defineConfig({
  server: { port: 8080 },
  agents: [support],
})
