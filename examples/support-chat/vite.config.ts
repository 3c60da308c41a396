import { defineConfig } from 'vite'

// The page sends its requests to its own origin. This server adds the token, which visitors must not see.
export default defineConfig({
  server: {
    proxy: {
      '/v1/agents/support': {
        target: process.env.API ?? 'http://127.0.0.1:8080',
        headers: { Authorization: `Bearer ${process.env.TOKEN}` },
        // When Perdure stops, the response to the page breaks as well. Without this line, the page waits for a timeout.
        configure: (proxy) => {
          proxy.on('proxyRes', (from, _request, to) => from.on('error', () => to.destroy()))
        },
      },
    },
  },
})
