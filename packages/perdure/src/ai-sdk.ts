export * from '@perdure/ai-sdk'
