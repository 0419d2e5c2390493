class PdfExtractor: pass
