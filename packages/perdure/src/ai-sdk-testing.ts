export * from '@perdure/ai-sdk/testing'
