import { defineConfig } from 'perdure'
import { answer, research } from './research-agents.ts'

export default defineConfig({ agents: [research, answer] })
