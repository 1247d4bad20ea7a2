(function () {
  var shelf = document.getElementById('shelf'), more = document.getElementById('more'), field = document.getElementById('search');
  var next = null;

  function load(url, term) {
    var request = new XMLHttpRequest();
    request.open('GET', url);
    request.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
    request.onload = function () {
      var answer = JSON.parse(request.responseText), html = '';
      answer.items.forEach(function (book) {
        html += '<div class="card"><h3>' + book.title + '</h3><p>' + book.author.name + ', ' + book.publisher.name + ', ' +
          book.year + '</p><p>' + book.abstract + '</p><p>' + book.isbn + '</p></div>';
      });
      shelf.innerHTML = '<h2>' + answer.total + ' results for ' + term + '</h2><p>Page ' + answer.page + ' of ' + answer.pages + '</p>' + html;
      next = answer.next;
      more.hidden = !next;
      more.onclick = function () { load(next, term); };
    };
    request.send();
  }

  function find() {
    var term = field.value.trim();
    load('/v1/books?search=' + encodeURIComponent(term) + '&page=1&per_page=20', term);
  }
  document.getElementById('go').addEventListener('click', find);
  field.addEventListener('keydown', function (event) { if (event.key === 'Enter') find(); });
})();
