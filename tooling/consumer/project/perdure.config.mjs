import { defineConfig } from '@perdure/server-app'

export default defineConfig({
  agents: [{ id: 'echo', description: 'Echoes.', agent: { id: 'echo', run: async (input) => input } }],
})
