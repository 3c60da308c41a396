import { defineConfig } from 'perdure'
import { summarize, triage } from './agents.ts'

export default defineConfig({ agents: [summarize, triage] })
